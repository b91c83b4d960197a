-- Every live attempt belongs to an incarnation that lives and stands in its claims, so that it is found when
--   the worker is lost.
-- A batch that is being removed is incomplete.
SELECT j.batch_id, j.job_id, j.attempt, j.incarnation_id, i.ended_at
FROM weft.job j
LEFT JOIN weft.worker_incarnation i ON i.incarnation_id = j.incarnation_id
WHERE j.state = STATE_RUNNING
    AND (
        i.incarnation_id IS NULL
            OR i.ended_at IS NOT NULL
            OR NOT EXISTS (
                SELECT
                FROM weft.claim c
                WHERE c.incarnation_id = j.incarnation_id
                    AND c.batch_id = j.batch_id
                    AND j.job_id = ANY (c.jobs)
            )
    )
