-- _park_jobs: hide from claimers and gates those of these jobs that are ready and have a closed switch: they
--   are listed before gate set 1 and lose their places. The low mark of their range can then pass them.
-- Safe to repeat: yes.
-- Locks: job (by the caller); ready_job (SKIP LOCKED); place (with the job).
-- Plan: jobs by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._park_jobs(of_batch_id bigint, of_job_ids int[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_batch record;
    v_job int[];
    v_listed int[];
BEGIN
    SELECT b.user_id, b.tenant_id, b.gated, q.pool_id
    INTO v_batch
    FROM weft.batch b
    JOIN weft.queue q
    USING (queue_id)
    WHERE b.batch_id = of_batch_id;
    -- The rows are locked, so what is held in this statement's snapshot is released after us, and then listed
    -- again.
    SELECT array_agg(j.job_id ORDER BY j.job_id)
    INTO v_job
    FROM unnest(of_job_ids) x
    CROSS JOIN LATERAL (
        SELECT y.*
        FROM weft.job y
        WHERE y.batch_id = of_batch_id AND y.job_id = x AND y.state = STATE_READY
        OFFSET 0
    ) j
    WHERE weft._is_closed(of_batch_id, j.group_id, j.job_id);
    IF v_job IS NULL THEN
        RETURN;
    END IF;
    -- A row that a claimer has locked is that of a job which was released meanwhile, and the claimer waits
    -- for our job rows.
    SELECT array_agg(l.job_id)
    INTO v_listed
    FROM (
        SELECT q.job_id
        FROM weft.ready_job q
        WHERE q.batch_id = of_batch_id AND q.job_id = ANY (v_job) AND q.gate_set_id <> 1
        FOR UPDATE SKIP LOCKED
    ) l;
    UPDATE weft.ready_job q SET gate_set_id = 1 WHERE q.batch_id = of_batch_id AND q.job_id = ANY (v_listed);
    WITH ranged AS (
        UPDATE weft.job j
        SET listed = true
        WHERE j.batch_id = of_batch_id AND j.job_id = ANY (v_job) AND NOT j.listed
        RETURNING j.job_id, j.priority, j.lane_id
    )
    INSERT INTO weft.ready_job (gate_set_id, pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
    SELECT
        1,
        weft._lane_pool(r.lane_id, v_batch.pool_id),
        v_batch.user_id,
        -r.priority,
        of_batch_id,
        r.job_id,
        v_batch.tenant_id,
        r.lane_id
    FROM ranged r;
    PERFORM weft._ring_gates(weft._free_places(array_fill(of_batch_id, ARRAY[cardinality(v_job)]), v_job))
    WHERE v_batch.gated;
END $$;
