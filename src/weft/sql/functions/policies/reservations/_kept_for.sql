-- _kept_for: whether a reservation holds: its job still waits and may start, or the worker has it and it has
--   not started.
-- Plan: the job by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._kept_for(r weft.reservation) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.job j
        WHERE j.batch_id = (r).batch_id
            AND j.job_id = (r).job_id
            AND (
                j.state = STATE_READY AND weft._may_pass(j.batch_id, j.group_id, j.job_id, j.always_run)
                    OR j.state = STATE_CREATING
                    OR j.state = STATE_RUNNING
                        AND j.started_at IS NULL
                        AND j.incarnation_id = (r).incarnation_id
            )
    )
$$;
