-- _add_ranges: let claimers find ready jobs in these ranges. Announces.
-- Called by: _open_ranges, _open_neighbours.   Safe to repeat: no.
-- Locks: none but its inserts, and what _announce takes.   Plan: by key.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_ranges(batch_ids bigint[], update_ids int[], lane_ids int[], first_jobs int[], last_jobs int[]) RETURNS void LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_pools int[]; v_users int[];
BEGIN
    WITH ins AS (
        INSERT INTO weft.runnable (pool_id, user_id, tenant_id, batch_id, update_id, lane_id, first_job, last_job, low_job)
        SELECT q.pool_id, b.user_id, b.tenant_id, t.b, t.u, t.a, t.f, t.l, t.f
        FROM unnest(_add_ranges.batch_ids, _add_ranges.update_ids, _add_ranges.lane_ids, _add_ranges.first_jobs, _add_ranges.last_jobs) t (b, u, a, f, l)
        JOIN weft.batch b ON b.batch_id = t.b JOIN weft.queue q ON q.queue_id = b.queue_id
        RETURNING pool_id, user_id)
    SELECT array_agg(i.pool_id), array_agg(i.user_id) INTO v_pools, v_users FROM ins i;
    PERFORM weft._announce(v_pools, v_users);
END $$;
