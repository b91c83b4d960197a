-- move_jobs: let jobs of a batch that wait, and have never run, wait in another queue, behind its gates.
--   Others stay: who claims or changes a job meanwhile keeps it.
-- Safe to repeat: yes.
-- Locks: as _lock_limits; batch_row (if the queue has limits); batch (shared); as _shape_ids; as
--   _lock_waiting; place (with the job); as _pass_gates; as _announce.
-- Plan: jobs and ready_job by key.
-- A hold or a cancel waits or is seen.
-- asked: `queue` and `pool`, or nothing for the queue `default`.
-- Returns: how many moved.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.move_jobs(
    tenant_id int, batch_id bigint, job_ids int[], asked jsonb, actor text
) RETURNS int LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_id bigint := move_jobs.batch_id;
    v_limited text[];
    v_batch record;
    v_old int[];
    v_new int[];
    v_lanes int[];
    v_asks record;
    v_own text[] := ARRAY['queue', 'pool', 'transport', 'foreign'];
    v_job int[];
    v_set int;
    v_sets int[];
    v_gates int[];
    v_pools int[];
BEGIN
    PERFORM weft._check_batch(v_id);
    -- How jobs travel is their queue's.
    asked := asked || coalesce(
        (
            SELECT jsonb_build_object('transport', q.transport)
            FROM weft.queue q
            WHERE q.tenant_id = move_jobs.tenant_id
                AND q.name = asked ->> 'queue'
                AND q.transport <> 'postgres'
        ),
        '{}'
    );
    v_limited := weft._lock_limits(move_jobs.tenant_id, ARRAY[asked], false);
    IF v_limited <> '{}' THEN
        UPDATE weft.batch b SET gated = true WHERE b.batch_id = v_id AND NOT b.gated;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(v_id);
    SELECT
        array_agg(h.shape_id) AS ids,
        array_agg(h.cpu_m) AS cpu_ms,
        array_agg(h.memory_mib) AS memory_mibs,
        array_agg(h.storage_mib) AS storage_mibs,
        array_agg(h.gpu) AS gpus,
        array_agg(h.countables - v_own || asked) AS countables
    INTO v_asks
    FROM weft.shape h
    WHERE h.countables - v_own || asked <> h.countables
        AND h.shape_id IN (
            SELECT j.shape_id
            FROM unnest(job_ids) x
            CROSS JOIN LATERAL (
                SELECT y.shape_id FROM weft.job y WHERE y.batch_id = v_id AND y.job_id = x OFFSET 0
            ) j
        );
    IF v_asks.ids IS NULL THEN
        RETURN 0;
    END IF;
    v_old := v_asks.ids;
    SELECT s.shape_ids, s.lane_ids
    INTO v_new, v_lanes
    FROM weft._shape_ids(
        v_asks.cpu_ms, v_asks.memory_mibs, v_asks.storage_mibs, v_asks.gpus, v_asks.countables
    ) s;
    PERFORM weft._intern_more(v_id, job_ids, asked);
    v_job := weft._lock_waiting(v_id, job_ids, v_old);
    IF v_job = '{}' THEN
        RETURN 0;
    END IF;
    IF v_limited <> '{}' THEN
        v_set := (SELECT s.sets[1] FROM weft._queue_sets(v_id, v_limited) s);
    END IF;
    SELECT b.user_id, b.tenant_id, b.gated, b.gate_set_id, q.pool_id
    INTO v_batch
    FROM weft.batch b
    JOIN weft.queue q
    USING (queue_id)
    WHERE b.batch_id = v_id;
    IF v_batch.gated THEN
        v_gates := weft._free_places(array_fill(v_id, ARRAY[cardinality(v_job)]), v_job);
    END IF;
    SELECT m.sets, m.pools
    INTO v_sets, v_pools
    FROM weft._move_rows(v_id, v_job, v_old, v_new, v_lanes, v_set, move_jobs.actor) m;
    IF v_batch.gated THEN
        PERFORM weft._pass_gates(v_gates || weft._set_gates(v_sets), true);
    END IF;
    PERFORM weft._announce(
        v_pools,
        array_fill(v_batch.user_id, ARRAY[cardinality(v_pools)]),
        array_fill(NULL::int, ARRAY[cardinality(v_pools)])
    );
    RETURN cardinality(v_job);
END $$;
