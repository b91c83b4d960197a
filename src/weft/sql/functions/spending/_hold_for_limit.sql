-- _hold_for_limit: hold groups for a limit, with all that they have; recorded as their pause. The sweep of holds parks their ready jobs.
-- Called by: _pause_for_limit, _pause_batch, which announce it.   Safe to repeat: yes.
-- Locks: hold_row.   Plan: batches and holds by key.
-- Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._hold_for_limit(of_batch_ids bigint[], of_group_ids int[], of_limit weft.spend_limit, at timestamptz)
RETURNS void LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_batches bigint[]; v_groups int[];
BEGIN
    WITH held AS (
        INSERT INTO weft.group_hold AS h (batch_id, group_id, tenant_id, held_at, limit_id)
        SELECT b.batch_id, g.group_id, b.tenant_id, _hold_for_limit.at, of_limit.limit_id
        FROM unnest(of_batch_ids, of_group_ids) g (batch_id, group_id) JOIN weft.batch b USING (batch_id)
        ORDER BY b.batch_id
        ON CONFLICT (batch_id, group_id, limit_id) DO UPDATE SET held_at = excluded.held_at, released_at = NULL, swept = false,
            sweep_job = 0
        WHERE h.released_at IS NOT NULL
        RETURNING h.batch_id, h.group_id)
    SELECT array_agg(n.batch_id), array_agg(n.group_id) INTO v_batches, v_groups FROM held n;
    PERFORM weft._record_limit(v_batches, v_groups, of_limit, 'paused', _hold_for_limit.at);
END $$;
