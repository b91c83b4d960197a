-- authenticate: who holds the token, the session of a browser or the code of a login link, of this SHA-256,
--   with their role and what it is for.
-- Safe to repeat: yes.
-- Locks: token (SKIP LOCKED).
-- Plan: token by key.
-- of_kind: token, session, code, invitation, answer; one does not count as the other. A token may be that of
--   a machine.
-- When it was last used is noted once a minute, so that requests do not write.
-- Returns: one row, with the seconds until it expires (NULL: it does not); or none for an unknown or expired
--   one, and for one whose user is removed.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.authenticate(
    token_hash bytea, of_kind text, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    tenant_id int,
    user_id int,
    user_name text,
    role text,
    token_id bigint,
    scopes text[],
    left_s double precision,
    pool text,
    worker_names text
) LANGUAGE sql VOLATILE AS $$
    UPDATE weft.token t
    SET last_used_at = authenticate.at
    FROM (
        SELECT f.token_hash
        FROM weft.token f
        WHERE f.token_hash = authenticate.token_hash
            AND f.kind IN (of_kind, CASE of_kind WHEN 'token' THEN 'machine' END)
            AND (f.expires_at IS NULL OR f.expires_at > authenticate.at)
            AND (f.last_used_at IS NULL OR f.last_used_at < authenticate.at - interval '1 minute')
        FOR UPDATE SKIP LOCKED
    ) f
    WHERE t.token_hash = f.token_hash;
    SELECT
        u.tenant_id, u.user_id, u.name, u.role, t.token_id, t.scopes,
        extract(epoch FROM t.expires_at - authenticate.at)::double precision,
        t.pool,
        t.worker_names
    FROM weft.token t
    JOIN weft.tenant_user u ON u.user_id = t.user_id
    WHERE t.token_hash = authenticate.token_hash
        AND t.kind IN (of_kind, CASE of_kind WHEN 'token' THEN 'machine' END)
        AND (t.expires_at IS NULL OR t.expires_at > authenticate.at)
        AND u.removed_at IS NULL
$$;
