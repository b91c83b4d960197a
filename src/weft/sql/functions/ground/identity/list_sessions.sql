-- list_sessions: the sessions of a user that have not ended, the oldest first.
-- Safe to repeat: yes, it only reads.
-- Plan: tokens of the user by index.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_sessions(
    tenant_id int, user_id int, at timestamptz DEFAULT clock_timestamp()
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT jsonb_build_object(
        'session_id', t.token_id,
        'browser', t.name,
        'address', t.opened_from,
        'scopes', t.scopes,
        'created_at', t.created_at,
        'expires_at', t.expires_at,
        'last_used_at', t.last_used_at
    )
    FROM weft.token t
    WHERE t.user_id = list_sessions.user_id AND t.kind = 'session' AND t.expires_at > list_sessions.at
    ORDER BY t.token_id;
END $$;
