-- authenticate: as authenticate_v2, with the one role that older programs know. Kept for one release.
-- They know neither scopes nor roles that may less than a user: who has such does not exist for them.
-- Called by: the api of an older program.   Safe to repeat: yes.
-- Locks: as authenticate_v2.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.authenticate(token_hash bytea, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (tenant_id int, user_id int, user_name text, is_admin boolean) LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT a.tenant_id, a.user_id, a.user_name, a.role = 'admin'
    FROM weft.authenticate_v2(authenticate.token_hash, authenticate.at) a
    WHERE a.scopes IS NULL AND a.role NOT IN ('viewer', 'worker')
$$;
