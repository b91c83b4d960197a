-- _record_change: record the time and actor of a change to a group (group 0: the batch), and notify
--   listeners. Announces.
-- Safe to repeat: no.
-- Locks: as _announce.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._record_change(
    of_batch_id bigint, of_group_id int, of_kind text, actor text, message text, at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO weft.group_change (batch_id, group_id, tenant_id, at, actor, kind, message)
    SELECT
        b.batch_id,
        of_group_id,
        b.tenant_id,
        _record_change.at,
        _record_change.actor,
        of_kind,
        _record_change.message
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id;
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, groups)
    SELECT
        _record_change.at,
        b.tenant_id,
        b.batch_id,
        CASE of_group_id WHEN 0 THEN 'batch.' ELSE 'group.' END || of_kind,
        ARRAY[of_group_id]
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id;
    PERFORM weft._announce();
END $$;
