-- A condition counts the jobs that are blocked on it; deltas have conditions.
SELECT
    coalesce(c.condition_id, k.condition_id, d.condition_id) AS condition_id,
    c.n_jobs,
    d.n AS n_delta,
    k.n AS n_blocked
FROM weft.condition c
FULL JOIN (
    SELECT b.condition_id, count(*) AS n FROM weft.blocked_job b WHERE b.condition_id IS NOT NULL GROUP BY 1
) k ON k.condition_id = c.condition_id
FULL JOIN (SELECT x.condition_id, sum(x.n) AS n FROM weft.condition_delta x GROUP BY 1) d
    ON d.condition_id = coalesce(c.condition_id, k.condition_id)
WHERE c.condition_id IS NULL OR c.n_jobs + coalesce(d.n, 0) <> coalesce(k.n, 0)
