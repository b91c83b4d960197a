-- _has_preempted: whether others were stopped for a job since it last ran: that happens once.
-- Plan: by the index of causes.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_preempted(of_batch_id bigint, of_job_id int) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.preemption p
        WHERE p.for_batch_id = of_batch_id
            AND p.for_job_id = of_job_id
            AND p.for_attempt = weft._last_run(of_batch_id, of_job_id)
    )
$$;
