-- What jobs use of each pool is what its users run there.
SELECT pool_id, l.running_m, s.running_m AS of_users
FROM weft.pool_load l
FULL JOIN (SELECT x.pool_id, sum(x.running_m) AS running_m FROM weft.user_share x GROUP BY 1) s
USING (pool_id)
WHERE coalesce(l.running_m, 0) <> coalesce(s.running_m, 0)
