-- A job has as many attempts as it says; one that succeeded has exactly one that did, the last; one that
--   ended has none alive.
-- One that succeeded without an attempt has a date for that.
-- A batch that is being removed is incomplete.
SELECT
    j.batch_id,
    j.job_id,
    j.state,
    j.attempt,
    count(a.attempt) AS n_attempts,
    count(*) FILTER (WHERE a.reason IS NULL AND a.attempt IS NOT NULL) AS n_succeeded
FROM weft.job j
LEFT JOIN weft.attempt a ON a.batch_id = j.batch_id AND a.job_id = j.job_id
GROUP BY j.batch_id, j.job_id
HAVING count(a.attempt) + (j.state = STATE_RUNNING)::int <> j.attempt
    OR (j.state = STATE_SUCCESS AND j.cancelled_at IS NULL) <> (
        count(*) FILTER (WHERE a.reason IS NULL AND a.attempt IS NOT NULL) = 1
    )
    OR (j.state = STATE_SUCCESS AND max(a.attempt) FILTER (WHERE a.reason IS NULL) <> j.attempt)
    OR (j.state = STATE_RUNNING) <> (j.incarnation_id IS NOT NULL)
