-- login_owner: whose token, session or login code this SHA-256 is, also if it has expired, and whether it
--   has: who tried to log in.
-- Plan: token by key.
-- Returns: one row, or none if nobody has it.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.login_owner(of_hash bytea)
RETURNS TABLE (tenant_id int, user_id int, user_name text, is_expired boolean) LANGUAGE sql STABLE AS $$
    SELECT
        u.tenant_id,
        u.user_id,
        u.name,
        coalesce(t.expires_at <= clock_timestamp(), false) AND u.removed_at IS NULL
    FROM weft.token t
    JOIN weft.tenant_user u ON u.user_id = t.user_id
    WHERE t.token_hash = login_owner.of_hash
$$;
