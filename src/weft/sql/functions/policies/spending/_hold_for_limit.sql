-- _hold_for_limit: hold groups for a limit, with all that they have: that is recorded as their pause. One
--   that is only near holds them with a door for jobs that it admits, which is no pause. The sweep of holds
--   parks their ready jobs.
-- Safe to repeat: yes.
-- For: _pause_for_limit, _pause_batch, which announce it.
-- Locks: hold_row.
-- Plan: batches and holds by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._hold_for_limit(
    of_batch_ids bigint[], of_group_ids int[], of_limit weft.spend_limit, at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_admits boolean := of_limit.stage <> 'reached';
    v_batches bigint[];
    v_groups int[];
    v_paused bigint[];
BEGIN
    v_paused := ARRAY(
        SELECT h.batch_id
        FROM unnest(of_batch_ids, of_group_ids) g (batch_id, group_id)
        JOIN weft.group_hold h
        USING (batch_id, group_id)
        WHERE h.limit_id = of_limit.limit_id AND h.released_at IS NULL AND NOT h.admits
    );
    WITH held AS (
        INSERT INTO weft.group_hold AS h (batch_id, group_id, tenant_id, held_at, limit_id, admits)
        SELECT b.batch_id, g.group_id, b.tenant_id, _hold_for_limit.at, of_limit.limit_id, v_admits
        FROM unnest(of_batch_ids, of_group_ids) g (batch_id, group_id)
        JOIN weft.batch b
        USING (batch_id)
        ORDER BY b.batch_id
        ON CONFLICT (batch_id, group_id, limit_id) DO UPDATE
        SET
            held_at = excluded.held_at,
            released_at = NULL,
            swept = false,
            sweep_job = 0,
            admits = excluded.admits
        WHERE h.released_at IS NOT NULL OR h.admits <> excluded.admits
        RETURNING h.batch_id, h.group_id
    )
    SELECT array_agg(n.batch_id), array_agg(n.group_id)
    INTO v_batches, v_groups
    FROM held n
    WHERE NOT v_admits OR n.batch_id = ANY (v_paused);
    IF v_batches IS NOT NULL THEN
        PERFORM weft._record_limit(
            v_batches,
            v_groups,
            of_limit,
            CASE WHEN v_admits THEN 'resumed' ELSE 'paused' END,
            _hold_for_limit.at
        );
    END IF;
END $$;
