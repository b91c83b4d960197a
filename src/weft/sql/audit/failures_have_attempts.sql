-- A job that failed or errored has an attempt that did not succeed, or a change that says it was late.
-- Queries find it by that (attempt_failure_idx, job_change_error_idx).
-- A batch that is being removed is incomplete.
SELECT j.batch_id, j.job_id, j.state
FROM weft.job j
WHERE j.state IN (STATE_FAILED, STATE_ERROR)
    AND NOT EXISTS (
        SELECT
        FROM weft.attempt a
        WHERE a.batch_id = j.batch_id AND a.job_id = j.job_id AND a.reason IS NOT NULL
    )
    AND NOT EXISTS (
        SELECT
        FROM weft.job_change c
        WHERE c.batch_id = j.batch_id AND c.job_id = j.job_id AND c.to_state = STATE_ERROR
    )
