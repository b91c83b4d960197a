-- _past_tries: how many attempts of a job before this one ended in the same way, as external errors or
--   otherwise, and when the first did.
-- For: _next_wait, postpone_conditions: it is inlined there.
-- Plan: the attempts and changes of the job by key.
-- External errors are counted since the last end of another kind. Attempts before a retry by a person are not
--   counted.
-- Returns: one row; since is NULL if there is none.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._past_tries(
    of_batch_id bigint, of_job_id int, of_attempt smallint, of_reason smallint
) RETURNS TABLE (n bigint, since timestamptz) LANGUAGE sql STABLE AS $$
    SELECT count(*), min(a.ended_at)
    FROM weft.attempt a
    WHERE a.batch_id = of_batch_id
        AND a.job_id = of_job_id
        AND a.attempt < of_attempt
        AND a.attempt > coalesce(
            (
                SELECT max(c.attempt)
                FROM weft.job_change c
                WHERE c.batch_id = of_batch_id AND c.job_id = of_job_id AND c.subtype = 'retried'
            ),
            0
        )
        AND a.reason NOT IN (REASON_LOST, REASON_PREEMPTED, REASON_OVERDUE)
        AND (a.reason = REASON_BLOCKED) = (of_reason = REASON_BLOCKED)
        AND (
            of_reason <> REASON_BLOCKED
                OR a.attempt > coalesce(
                    (
                        SELECT max(o.attempt)
                        FROM weft.attempt o
                        WHERE o.batch_id = of_batch_id
                            AND o.job_id = of_job_id
                            AND o.attempt < of_attempt
                            AND o.reason NOT IN (
                                REASON_BLOCKED, REASON_LOST, REASON_PREEMPTED, REASON_OVERDUE
                            )
                    ),
                    0
                )
        )
$$;
