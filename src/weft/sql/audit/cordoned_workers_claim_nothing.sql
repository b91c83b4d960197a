-- No worker claimed a job while it was cordoned.
WITH period AS (
    SELECT
        c.worker_id,
        c.state,
        c.at AS since,
        lead(c.at) OVER (PARTITION BY c.worker_id ORDER BY c.change_id) AS until
    FROM weft.worker_change c
)
SELECT x.batch_id, x.job_id, x.attempt, x.claimed_at, p.worker_id, p.since, p.until
FROM period p
JOIN weft.worker_incarnation i
USING (worker_id)
JOIN weft._runs() x
USING (incarnation_id)
-- A cordon is dated when the claim under way has committed; its end while a claim may have begun, which is
-- dated before it.
WHERE p.state IN ('cordoned', 'draining')
    AND x.claimed_at > p.since
    AND (p.until IS NULL OR x.claimed_at < p.until - interval '1 second')
