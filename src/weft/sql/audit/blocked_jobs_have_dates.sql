-- A job is blocked if and only if it has a date at which it is ready again, and the driver has not slept
--   through that for a minute.
-- A batch that is being removed is incomplete.
SELECT
    coalesce(j.batch_id, k.batch_id) AS batch_id, coalesce(j.job_id, k.job_id) AS job_id, j.state, k.next_at
FROM (SELECT b.batch_id, b.job_id, b.state FROM weft.job b WHERE b.state = STATE_BLOCKED) j
FULL JOIN weft.blocked_job k ON k.batch_id = j.batch_id AND k.job_id = j.job_id
WHERE j.job_id IS NULL OR k.job_id IS NULL
