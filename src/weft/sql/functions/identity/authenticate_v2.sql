-- authenticate_v2: who holds the token of this SHA-256, with their role.
-- Called by: Store.authenticate (api).   Safe to repeat: yes, it only reads.
-- Locks: none.   Plan: token by key.   Returns: one row, or none for an unknown or expired token.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.authenticate_v2(token_hash bytea, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (tenant_id int, user_id int, user_name text, role text) LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT u.tenant_id, u.user_id, u.name, u.role
    FROM weft.token t JOIN weft.tenant_user u ON u.user_id = t.user_id
    WHERE t.token_hash = authenticate_v2.token_hash AND (t.expires_at IS NULL OR t.expires_at > authenticate_v2.at)
$$;
