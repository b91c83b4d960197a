-- No job waits that can no longer end by its deadline, and none runs past it that was not told to stop,
--   unless the driver is about to look.
-- It has a minute for that. What waits for somebody or for a date waits for its parents first.
SELECT d.batch_id, j.job_id, j.state, d.latest_start, d.deadline, d.due_at
FROM weft.job_deadline d
JOIN weft.job j ON j.batch_id = d.batch_id AND j.job_id BETWEEN d.first_job AND d.last_job
JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0 AND u.update_id = j.update_id
WHERE u.committed_at < clock_timestamp() - interval '1 minute'
    AND (
        j.state < STATE_SUCCESS
            AND j.state <> STATE_RUNNING
            AND d.latest_start < clock_timestamp() - interval '1 minute'
            AND (d.succeeds IS NULL OR j.state <> STATE_PENDING)
            OR j.state = STATE_RUNNING
                AND d.deadline < clock_timestamp() - interval '1 minute'
                AND NOT EXISTS (
                    SELECT FROM weft.job_cancel c WHERE c.batch_id = j.batch_id AND c.job_id = j.job_id
                )
    )
