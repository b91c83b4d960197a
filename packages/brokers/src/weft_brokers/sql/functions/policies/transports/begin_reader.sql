-- begin_reader: where somebody outside goes on with the events of a tenant, and as whom they see them. A new
--   reader begins now.
-- Safe to repeat: yes.
-- Locks: as _check_epoch.
-- Plan: tenant and user by name; by key.
-- Returns: no row if there is no such user. removed: the events after its position were removed; then the
--   position is that of the last one that was.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.begin_reader(epoch bigint, reader text, of_tenant text, of_user text) RETURNS
    TABLE (
        tenant_id int, user_id int, user_name text, role text, xid bigint, event_id bigint, removed boolean
    ) LANGUAGE plpgsql AS $$
DECLARE
    v_user weft.tenant_user;
BEGIN
    SELECT u.*
    INTO v_user
    FROM weft.tenant t
    JOIN weft.tenant_user u
    USING (tenant_id)
    WHERE t.name = of_tenant AND u.name = of_user AND u.removed_at IS NULL;
    IF v_user.user_id IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO weft.event_reader (reader, tenant_id, xid, event_id)
    VALUES (begin_reader.reader, v_user.tenant_id, pg_snapshot_xmin(pg_current_snapshot()), 0)
    ON CONFLICT DO NOTHING;
    RETURN QUERY
    SELECT
        v_user.tenant_id,
        v_user.user_id,
        v_user.name,
        v_user.role,
        greatest(r.xid, f.xid)::text::bigint,
        CASE
            WHEN f.xid > r.xid THEN f.event_id
            WHEN f.xid = r.xid THEN greatest(r.event_id, f.event_id)
            ELSE r.event_id
        END,
        (f.xid, f.event_id) > (r.xid, r.event_id)
    FROM weft.event_reader r
    CROSS JOIN weft.event_floor f
    WHERE r.reader = begin_reader.reader;
END $$;
