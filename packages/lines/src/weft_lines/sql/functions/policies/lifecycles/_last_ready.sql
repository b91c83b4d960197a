-- _last_ready: the number of the row in the history of a job's status with which it last became pending or
--   ready; 0: there is none.
-- Plan: the history of the job by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._last_ready(of_batch_id bigint, of_job_id int) RETURNS int
LANGUAGE sql STABLE AS $$
    SELECT coalesce(max(c.n), 0)
    FROM weft.job_status_change c
    WHERE c.batch_id = of_batch_id AND c.job_id = of_job_id AND c.state IN (STATE_PENDING, STATE_READY)
$$;
