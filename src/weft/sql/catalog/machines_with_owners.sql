-- Every machine that weft knows, without deleted ones, and whose it is.
SELECT
    m.name AS machine,
    m.provider,
    m.provider_id,
    m.state,
    m.created_at,
    p.name AS pool,
    CASE
        WHEN m.strayed_at IS NOT NULL THEN 'nobody: weft has not asked for it'
        WHEN p.plan IS NULL THEN 'nobody: its pool is not described'
        WHEN m.for_batch_id IS NOT NULL
            THEN format('job b%s.j%s, pool %s', m.for_batch_id, m.for_job_id, p.name)
        ELSE 'pool ' || p.name
    END AS owner
FROM weft.machine m
JOIN weft.pool p
USING (pool_id)
WHERE m.state <> 'deleted'
ORDER BY m.machine_id
