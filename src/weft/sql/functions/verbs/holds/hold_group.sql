-- hold_group: hold a group with everything below it (0: the batch). No claim of its jobs commits afterwards;
--   running jobs continue. It inserts one row; the sweep parks the ready jobs.
-- Safe to repeat: yes.
-- Returns: whether this call held it.
-- Locks: batch (exclusive); hold_row; as _record_change. Claims hold it shared, so no claim commits after
--   this commit (invariant 6).
-- Raises WF101, WF103.
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_system.
CREATE OR REPLACE FUNCTION weft.hold_group(
    tenant_id int, batch_id bigint, group_id int, actor text, at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_is_new boolean;
BEGIN
    PERFORM weft._check_group(hold_group.batch_id, hold_group.group_id);
    PERFORM pg_advisory_xact_lock(hold_group.batch_id);
    INSERT INTO weft.group_hold AS h (batch_id, group_id, tenant_id, held_at)
    VALUES (hold_group.batch_id, hold_group.group_id, hold_group.tenant_id, hold_group.at)
    ON CONFLICT (batch_id, group_id, limit_id) DO UPDATE
    SET held_at = excluded.held_at, released_at = NULL, swept = false, sweep_job = 0
    WHERE h.released_at IS NOT NULL
    RETURNING true
    INTO v_is_new;
    IF v_is_new THEN
        PERFORM weft._record_change(
            hold_group.batch_id, hold_group.group_id, 'held', hold_group.actor, NULL, hold_group.at
        );
    END IF;
    RETURN coalesce(v_is_new, false);
END $$;
