-- Every pending job waits for a parent that has not ended, or for the driver, which is to tell it of one that
--   has.
-- So each job that has not ended has an owner or a date, together with the other checks: a queued one has an
--   offer
-- (queued_jobs_are_offered), a ready one is offered, held, before a gate or late (ready_jobs_are_reachable),
--   a creating one has a machine
-- (own_machines_have_jobs), a running one a living worker (live_attempts_have_owners), and a blocked one a
--   date (blocked_jobs_have_dates).
-- A batch that is being removed is incomplete.
SELECT j.batch_id, j.job_id, j.state, j.n_unfinished
FROM weft.job j
JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0
    AND u.update_id = j.update_id
    AND u.committed_at IS NOT NULL
WHERE j.state = STATE_PENDING
    AND NOT EXISTS (SELECT FROM weft.parent_end t WHERE t.batch_id = j.batch_id AND t.child_id = j.job_id)
    AND NOT EXISTS (
        SELECT
        FROM weft.edge e
        JOIN weft.job p ON p.batch_id = e.batch_id AND p.job_id = e.parent_id
        WHERE e.batch_id = j.batch_id
            AND e.child_id = j.job_id
            AND e.need IS DISTINCT FROM NEED_TOLD
            AND (
                p.state < STATE_SUCCESS
                    OR EXISTS (
                        SELECT FROM weft.cascade c WHERE c.batch_id = p.batch_id AND c.job_id = p.job_id
                    )
            )
    )
