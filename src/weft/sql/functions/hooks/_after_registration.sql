-- _after_registration: what follows when a worker has registered.
-- Safe to repeat: yes.   For: register_worker, before it announces.   Locks: as _keep_for_job.   Plan: as _keep_for_job.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_registration(of_incarnation_id int, of_pool_id int, worker_name text) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM weft._keep_for_job(of_incarnation_id, of_pool_id, worker_name);
END $$;
