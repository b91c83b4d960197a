-- _cancel_group: mark a group cancelled, after every claim in progress.
-- Safe to repeat: yes.
-- Returns: whether this call cancelled it.
-- For: cancel_group, _count_failures, which announce it.
-- Locks: batch (exclusive); cancel_row. Claims hold it shared, so no claim commits after this commit
--   (invariant 6).
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._cancel_group(
    batch_id bigint, group_id int, actor text, force boolean, at timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_is_new boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(_cancel_group.batch_id);
    INSERT INTO weft.group_cancel AS c (batch_id, group_id, tenant_id, user_id, cancelled_at, actor, force)
    SELECT
        g.batch_id,
        g.group_id,
        g.tenant_id,
        b.user_id,
        _cancel_group.at,
        _cancel_group.actor,
        _cancel_group.force
    FROM weft.job_group g
    JOIN weft.batch b
    USING (batch_id)
    WHERE g.batch_id = _cancel_group.batch_id AND g.group_id = _cancel_group.group_id
    -- What a person cancels is not lifted any more (_lift_limits).
    ON CONFLICT (batch_id, group_id) DO UPDATE
    SET
        force = excluded.force OR c.force,
        actor = CASE c.actor WHEN 'cancel_after_n_failures' THEN excluded.actor ELSE c.actor END,
        swept = c.swept AND NOT (excluded.force AND NOT c.force),
        sweep_job = CASE WHEN excluded.force AND NOT c.force THEN 0 ELSE c.sweep_job END
    WHERE excluded.force AND NOT c.force OR c.actor = 'cancel_after_n_failures' AND excluded.actor <> c.actor
    RETURNING true
    INTO v_is_new;
    IF v_is_new THEN
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, groups)
        SELECT
            _cancel_group.at,
            g.tenant_id,
            g.batch_id,
            CASE g.group_id WHEN 0 THEN 'batch.cancelled' ELSE 'group.cancelled' END,
            ARRAY[g.group_id]
        FROM weft.job_group g
        WHERE g.batch_id = _cancel_group.batch_id AND g.group_id = _cancel_group.group_id;
        PERFORM pg_notify('cancel', _cancel_group.batch_id::text);
    END IF;
    RETURN coalesce(v_is_new, false);
END $$;
