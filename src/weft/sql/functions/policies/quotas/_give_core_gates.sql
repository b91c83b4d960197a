-- _give_core_gates: give the next jobs of a batch that have not ended their gates of running cores. Ready
--   ones wait there with all others; what runs has its places, also more than there are.
-- Safe to repeat: yes, jobs that have the gates stay as they are.
-- Locks: batch_row; batch; job (in key order); ready_job (in key order); as _move_to_core_gates. No claim,
--   commit, hold, release or move of the batch is under way then, and no report of these jobs.
-- Plan: jobs by key, at most limit_jobs of 20,000 numbers.
-- cores: as from _core_gates.
-- Returns: the last number that was examined; NULL: there are no more.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._give_core_gates(
    of_tenant_id int, of_batch_id bigint, cores jsonb, after_job int, limit_jobs int
) RETURNS int LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_to bigint := after_job::bigint + 20000;
    v_end int;
    v_job int[];
    v_set int[];
BEGIN
    SELECT b.next_job - 1
    INTO v_end
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id AND NOT b.removing
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE weft.batch b SET gated = true WHERE b.batch_id = of_batch_id AND NOT b.gated;
    PERFORM pg_advisory_xact_lock(of_batch_id);
    v_job := ARRAY(
        SELECT j.job_id
        FROM weft.job j
        WHERE j.batch_id = of_batch_id
            AND j.job_id > after_job
            AND j.job_id <= v_to
            AND j.state < STATE_SUCCESS
        ORDER BY j.job_id
        LIMIT limit_jobs
        FOR NO KEY UPDATE
    );
    IF cardinality(v_job) = limit_jobs THEN
        v_to := v_job[limit_jobs];
    END IF;
    -- A release lists parked jobs without their rows in job.
    PERFORM
    FROM weft.ready_job q
    WHERE q.batch_id = of_batch_id AND q.job_id = ANY (v_job)
    ORDER BY q.job_id
    FOR UPDATE;
    -- In a statement of its own, which sees what the owners of these rows have changed.
    SELECT array_agg(w.job_id ORDER BY w.job_id), array_agg(w.gate_set_id ORDER BY w.job_id)
    INTO v_job, v_set
    FROM weft._with_core_gates(of_tenant_id, of_batch_id, v_job, cores) w;
    IF v_job IS NOT NULL THEN
        PERFORM weft._move_to_core_gates(of_batch_id, v_job, v_set);
    END IF;
    RETURN CASE WHEN v_to < v_end THEN v_to END;
END $$;
