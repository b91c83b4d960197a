-- _leave_creating: the machine of a job is there: make the job ready, so that this worker may claim it in
--   this transaction. A job that may not start now, or for which the machine turned out to be too small, goes
--   on waiting.
-- Safe to repeat: yes.
-- Plan: by key.
-- For: _claim_kept, which has locked the batch.
-- Locks: job (SKIP LOCKED); as _turn_creating; ready_job (a new row). Gates were passed before: the job has
--   its places.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._leave_creating(
    worker weft.worker_incarnation, of_batch_id bigint, of_job_id int
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_job weft.job;
BEGIN
    SELECT j.*
    INTO v_job
    FROM weft.job j
    WHERE j.batch_id = of_batch_id AND j.job_id = of_job_id AND j.state = STATE_CREATING
    FOR UPDATE SKIP LOCKED;
    IF v_job.job_id IS NULL
        OR v_job.cpu_m > worker.cpu_m
        OR v_job.memory_mib > worker.memory_mib
        OR NOT weft._may_pass(of_batch_id, v_job.group_id, of_job_id, v_job.always_run)
        OR weft._lane_room(worker.incarnation_id, v_job.lane_id, '{}') <= 0
    THEN
        RETURN;
    END IF;
    PERFORM weft._turn_creating(of_batch_id, of_job_id, false, 'its machine is there', clock_timestamp());
    INSERT INTO weft.ready_job (gate_set_id, pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
    SELECT
        0, worker.pool_id, b.user_id, -v_job.priority, of_batch_id, of_job_id, v_job.tenant_id, v_job.lane_id
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id;
END $$;
