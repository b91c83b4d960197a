-- Every job that waits for a machine of its own has exactly one, and no other job runs on such a machine.
SELECT j.batch_id, j.job_id, NULL AS machine
FROM weft.job j
WHERE j.state = STATE_CREATING
    AND NOT EXISTS (
        SELECT
        FROM weft.machine m
        WHERE m.for_batch_id = j.batch_id AND m.for_job_id = j.job_id AND m.released_at IS NULL
    )
UNION ALL
SELECT a.batch_id, a.job_id, m.name
FROM weft._runs() a
JOIN weft.worker_incarnation i
USING (incarnation_id)
JOIN weft.worker w
USING (worker_id)
JOIN weft.machine m ON m.pool_id = w.pool_id AND m.name = w.name
WHERE m.for_batch_id IS NOT NULL AND (a.batch_id, a.job_id) <> (m.for_batch_id, m.for_job_id)
