-- _begin_creating: from now on a ready job waits for a machine of its own with this much, unless it may not
--   start or somebody has it.
-- Safe to repeat: yes, only a ready job is changed.
-- Plan: by key.
-- Locks: as _take_one; as _turn_creating; ready_job (with the job). It never waits.
-- Returns: whether it waits for one from now on.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._begin_creating(
    of_batch_id bigint, of_job_id int, of_pool_id int, cpu_m bigint, memory_mib bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_worker weft.worker_incarnation;
    v_taken record;
BEGIN
    v_worker.pool_id := of_pool_id;
    v_worker.cpu_m := _begin_creating.cpu_m;
    v_worker.memory_mib := _begin_creating.memory_mib;
    SELECT * INTO v_taken FROM weft._take_one(v_worker, of_batch_id, of_job_id);
    IF (v_taken.picked).job_ids IS NULL THEN
        RETURN false;
    END IF;
    DELETE FROM weft.ready_job q WHERE q.ctid = ANY ((v_taken.picked).queue_tids);
    PERFORM weft._turn_creating(
        of_batch_id, of_job_id, true, 'a machine of its own is being made', clock_timestamp()
    );
    RETURN true;
END $$;
