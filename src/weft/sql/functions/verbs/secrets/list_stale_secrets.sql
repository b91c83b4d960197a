-- list_stale_secrets: secrets of all tenants that another key than this one encrypted.
-- Plan: all secrets: a rotation is rare.
-- by_user_id: the caller, of any tenant.
-- key_id: as in weft.wire.sealed.
-- Returns: at most limit_rows of them; none if the caller is no longer an admin.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_stale_secrets(by_user_id int, key_id bytea, limit_rows int)
RETURNS TABLE (tenant_id int, user_id int, name text, body bytea) LANGUAGE sql STABLE AS $$
    SELECT s.tenant_id, s.user_id, s.name, s.body
    FROM weft.secret s
    WHERE substr(s.body, 2, 8) <> list_stale_secrets.key_id
        AND EXISTS (
            SELECT
            FROM weft.tenant_user u
            WHERE u.user_id = list_stale_secrets.by_user_id AND u.role = 'admin' AND u.removed_at IS NULL
        )
    ORDER BY s.user_id, s.name
    LIMIT list_stale_secrets.limit_rows
$$;
