-- _kept_worker: the name of the worker that is kept for a job.
-- Plan: the reservation by job, then by key.
-- Returns: NULL if none is.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._kept_worker(of_batch_id bigint, of_job_id int) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT w.name
    FROM weft.reservation r
    JOIN weft.worker_incarnation i
    USING (incarnation_id)
    JOIN weft.worker w
    USING (worker_id)
    WHERE r.batch_id = of_batch_id AND r.job_id = of_job_id AND i.ended_at IS NULL AND weft._kept_for(r)
$$;
