-- No worker claimed a job while it was cordoned.
WITH period AS (
    SELECT c.worker_id, c.state, c.at AS since, lead(c.at) OVER (PARTITION BY c.worker_id ORDER BY c.change_id) AS until
    FROM weft.worker_change c)
SELECT x.batch_id, x.job_id, x.attempt, x.claimed_at, p.worker_id, p.since, p.until
FROM period p JOIN weft.worker_incarnation i USING (worker_id)
JOIN (SELECT a.batch_id, a.job_id, a.attempt, a.claimed_at, a.incarnation_id FROM weft.attempt a
      UNION ALL SELECT j.batch_id, j.job_id, j.attempt, j.claimed_at, j.incarnation_id FROM weft.job j
      WHERE j.state = STATE_RUNNING) x USING (incarnation_id)
-- A cordon is dated when the claim under way has committed; its end while a claim may have begun, which is dated before it.
WHERE p.state IN ('cordoned', 'draining') AND x.claimed_at > p.since
    AND (p.until IS NULL OR x.claimed_at < p.until - interval '1 second')
