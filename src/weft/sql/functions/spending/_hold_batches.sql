-- _hold_batches: hold batches for a limit, with all that they have; recorded as their pause. The sweep of holds parks their ready jobs.
-- Called by: _pause_for_limit, _pause_batch, which announce it.   Safe to repeat: yes.
-- Locks: hold_row.   Plan: batches and holds by key.
-- Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._hold_batches(of_batch_ids bigint[], of_limit_id int, at timestamptz) RETURNS void LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_new bigint[];
BEGIN
    WITH held AS (
        INSERT INTO weft.group_hold AS h (batch_id, group_id, tenant_id, held_at, limit_id)
        SELECT b.batch_id, 0, b.tenant_id, _hold_batches.at, of_limit_id FROM weft.batch b WHERE b.batch_id = ANY (of_batch_ids)
        ORDER BY b.batch_id
        ON CONFLICT (batch_id, group_id, limit_id) DO UPDATE SET held_at = excluded.held_at, released_at = NULL, swept = false,
            sweep_job = 0
        WHERE h.released_at IS NOT NULL
        RETURNING h.batch_id)
    SELECT array_agg(n.batch_id) INTO v_new FROM held n;
    PERFORM weft._record_limit(v_new, 'paused', _hold_batches.at);
END $$;
