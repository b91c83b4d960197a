-- _leave_queued: a worker has heard of a queued job: make the job ready, so that this worker may claim it in this transaction. One that may
--   not start now, that somebody has, or that this worker cannot run, stays as it is.
-- Called by: claim_offered, which has locked the batch.   Safe to repeat: yes.   Plan: by key.
-- Locks: job (SKIP LOCKED); as _unqueue_jobs; ready_job (a new row, which nobody else sees). Gates were passed before: the job has
--   its places.
-- Returns: whether it is ready.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._leave_queued(worker weft.worker_incarnation, of_offer_id bigint, budget_cpu_m bigint,
    budget_memory_mib bigint, at timestamptz) RETURNS boolean LANGUAGE plpgsql
AS $$
DECLARE
    v_job weft.job;
BEGIN
    SELECT j.* INTO v_job FROM weft.transport_offer o JOIN weft.job j ON j.batch_id = o.batch_id AND j.job_id = o.job_id
    WHERE o.offer_id = of_offer_id AND o.attempt IS NULL AND j.state = STATE_QUEUED FOR UPDATE OF j SKIP LOCKED;
    IF v_job.job_id IS NULL OR v_job.cpu_m > least(worker.cpu_m, budget_cpu_m) OR v_job.memory_mib > least(worker.memory_mib,
            budget_memory_mib)
        OR NOT weft._consumes(worker, v_job.lane_id)
        OR NOT weft._may_pass(v_job.batch_id, v_job.group_id, v_job.job_id, v_job.always_run)
        OR weft._lane_room(worker.incarnation_id, v_job.lane_id, '{}') <= 0 THEN
        RETURN false;
    END IF;
    PERFORM weft._unqueue_jobs(ARRAY[v_job.batch_id], ARRAY[v_job.job_id], _leave_queued.at);
    INSERT INTO weft.ready_job (gate_set_id, pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
    SELECT 0, worker.pool_id, b.user_id, -v_job.priority, v_job.batch_id, v_job.job_id, v_job.tenant_id, v_job.lane_id
    FROM weft.batch b WHERE b.batch_id = v_job.batch_id;
    RETURN true;
END $$;
