-- _add_ranges: show these ranges of ready jobs to claimers, or put them before the gates of their batches.
--   Announces.
-- Safe to repeat: no.
-- Locks: as _pass_gates; as _announce.
-- Plan: by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_ranges(
    batch_ids bigint[], update_ids int[], lane_ids int[], first_jobs int[], last_jobs int[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_pools int[];
    v_users int[];
    v_lanes int[];
    v_sets int[];
BEGIN
    WITH ins AS (
        INSERT INTO weft.runnable (
            gate_set_id, pool_id, user_id, tenant_id, batch_id, update_id, lane_id, first_job, last_job,
            low_job
        )
        SELECT
            b.gate_set_id, weft._lane_pool(t.a, q.pool_id), b.user_id, b.tenant_id, t.b, t.u, t.a, t.f, t.l,
            t.f
        FROM unnest(
            _add_ranges.batch_ids,
            _add_ranges.update_ids,
            _add_ranges.lane_ids,
            _add_ranges.first_jobs,
            _add_ranges.last_jobs
        ) t (b, u, a, f, l)
        JOIN weft.batch b ON b.batch_id = t.b
        JOIN weft.queue q ON q.queue_id = b.queue_id
        RETURNING gate_set_id, pool_id, user_id, lane_id
    )
    SELECT
        array_agg(i.pool_id),
        array_agg(i.user_id),
        array_agg(i.lane_id),
        array_agg(i.gate_set_id) FILTER (WHERE i.gate_set_id <> 0)
    INTO v_pools, v_users, v_lanes, v_sets
    FROM ins i;
    IF v_sets IS NOT NULL THEN
        PERFORM weft._pass_gates(weft._set_gates(v_sets), true);
    END IF;
    PERFORM weft._announce(v_pools, v_users, v_lanes);
END $$;
