-- Every machine belongs to a pool that is described, and no pool ever made one beyond its maximum.
SELECT p.name AS pool, m.name AS machine, m.state, m.created_at, 'nobody describes its pool' AS finding
FROM weft.machine m
JOIN weft.pool p
USING (pool_id)
WHERE m.state <> 'deleted' AND p.plan IS NULL
UNION ALL
SELECT p.name, m.name, m.state, m.created_at, format('%s machines, at most %s', x.n, m.pool_max)
FROM weft.machine m
JOIN weft.pool p
USING (pool_id)
CROSS JOIN LATERAL (
    SELECT count(*) AS n
    FROM weft.machine o
    WHERE o.pool_id = m.pool_id
        AND o.strayed_at IS NULL
        AND o.machine_id <= m.machine_id
        AND (o.state <> 'deleted' OR o.changed_at > m.created_at)
) x
WHERE x.n > m.pool_max AND m.strayed_at IS NULL
