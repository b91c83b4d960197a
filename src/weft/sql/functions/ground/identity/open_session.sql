-- open_session: open a session for the browser that has a code, in the row of the code, which counts no more.
--   Beyond sessions_max the oldest ones end, with what was made by them.
-- Safe to repeat: no; who lost the reply needs another code.
-- Locks: user (two requests do not pass the limit together); token; as _end_surplus_sessions.
-- Plan: token by key, tokens of the user by index.
-- of_name: what the browser calls itself.
-- opened_from: its address.
-- valid_s: the longest that a session lasts.
-- Returns: as authenticate, or no row for an unknown, used or expired code, and if the session that made the
--   code was one too many.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.open_session(
    code_hash bytea,
    session_hash bytea,
    of_name text,
    opened_from text,
    valid_s double precision,
    sessions_max int,
    at timestamptz DEFAULT clock_timestamp()
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
) LANGUAGE plpgsql AS $$
DECLARE
    v_new weft.token;
BEGIN
    PERFORM
    FROM weft.tenant_user u
    WHERE u.user_id = (SELECT t.user_id FROM weft.token t WHERE t.token_hash = open_session.code_hash)
    FOR NO KEY UPDATE;
    UPDATE weft.token t
    SET
        token_hash = open_session.session_hash,
        kind = 'session',
        name = of_name,
        opened_from = open_session.opened_from,
        created_at = open_session.at,
        last_used_at = NULL,
        session_ends_at = NULL,
        expires_at = least(open_session.at + open_session.valid_s * interval '1 second', t.session_ends_at)
    WHERE t.token_hash = open_session.code_hash AND t.kind = 'code' AND t.expires_at > open_session.at
    RETURNING t.*
    INTO v_new;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM weft._end_surplus_sessions(v_new.user_id, v_new.token_id, sessions_max, open_session.at);
    RETURN QUERY SELECT * FROM weft.authenticate(open_session.session_hash, 'session', open_session.at);
END $$;
