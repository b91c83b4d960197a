-- open_session: open a session for the browser that has a code; the code counts no more. Beyond sessions_max the oldest ones end.
-- Called by: Store.open_session (api).   Safe to repeat: no; who lost the reply needs another code.
-- Locks: user (two requests do not pass the limit together); token.   Plan: token by key, tokens of the user by index.
-- of_name: what the browser calls itself.   opened_from: its address.   valid_s: the longest that a session lasts.
-- Returns: as authenticate_v3, or no row for an unknown, used or expired code.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.open_session(code_hash bytea, session_hash bytea, of_name text, opened_from text, valid_s double precision,
    sessions_max int, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (tenant_id int, user_id int, user_name text, role text, token_id bigint, scopes text[], left_s double precision)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_code weft.token; v_ended bigint;
BEGIN
    PERFORM FROM weft.tenant_user u
    WHERE u.user_id = (SELECT t.user_id FROM weft.token t WHERE t.token_hash = open_session.code_hash) FOR NO KEY UPDATE;
    DELETE FROM weft.token t WHERE t.token_hash = open_session.code_hash AND t.kind = 'code' AND t.expires_at > open_session.at
    RETURNING t.* INTO v_code;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO weft.token (token_hash, tenant_id, user_id, kind, name, opened_from, scopes, created_at, expires_at)
    VALUES (open_session.session_hash, v_code.tenant_id, v_code.user_id, 'session', of_name, open_session.opened_from, v_code.scopes,
            open_session.at, least(open_session.at + open_session.valid_s * interval '1 second', v_code.session_ends_at));
    FOR v_ended IN
        DELETE FROM weft.token t WHERE t.user_id = v_code.user_id AND t.kind = 'session' AND (t.expires_at <= open_session.at
            OR t.token_id <= (SELECT o.token_id FROM weft.token o WHERE o.user_id = v_code.user_id AND o.kind = 'session'
                              ORDER BY o.token_id DESC OFFSET open_session.sessions_max LIMIT 1))
            AND t.token_hash <> open_session.session_hash
        RETURNING t.token_id
    LOOP
        PERFORM pg_notify('callers', v_ended::text);
    END LOOP;
    RETURN QUERY SELECT * FROM weft.authenticate_v3(open_session.session_hash, 'session', open_session.at);
END $$;
