-- authenticate_v2: as authenticate_v3 for tokens; older programs know no sessions. Kept for one release.
-- Called by: the api of an older program.   Safe to repeat: yes.
-- Locks: as authenticate_v3.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.authenticate_v2(token_hash bytea, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (tenant_id int, user_id int, user_name text, role text, token_id bigint, scopes text[]) LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT a.tenant_id, a.user_id, a.user_name, a.role, a.token_id, a.scopes
    FROM weft.authenticate_v3(authenticate_v2.token_hash, 'token', authenticate_v2.at) a
$$;
