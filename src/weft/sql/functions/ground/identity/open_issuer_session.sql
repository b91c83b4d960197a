-- open_issuer_session: open a session for the browser of a user for whom an issuer vouches. Beyond
--   sessions_max the oldest ones end, with what was made by them.
-- Safe to repeat: yes, a login opens one session; who lost the reply logs in again.
-- Locks: user (two requests do not open two sessions, nor pass the limit together); token (a new one); as
--   _end_surplus_sessions.
-- Plan: tokens of the user by index.
-- of_login: names the login, whose session must not be there yet.
-- of_name: what the browser calls itself.
-- opened_from: its address.
-- Returns: the number of the session; NULL: this login has opened one, or the user is removed.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.open_issuer_session(
    tenant_id int,
    user_id int,
    session_hash bytea,
    of_login text,
    of_name text,
    opened_from text,
    valid_s double precision,
    sessions_max int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_session bigint;
BEGIN
    PERFORM
    FROM weft.tenant_user u
    WHERE u.user_id = open_issuer_session.user_id AND u.removed_at IS NULL
    FOR NO KEY UPDATE;
    IF NOT FOUND
        OR EXISTS (
            SELECT
            FROM weft.token t
            WHERE t.user_id = open_issuer_session.user_id AND t.idempotency_key = of_login
        )
    THEN
        RETURN NULL;
    END IF;
    INSERT INTO weft.token (
        token_hash, tenant_id, user_id, kind, name, opened_from, created_at, expires_at, idempotency_key
    )
    VALUES (
        session_hash, open_issuer_session.tenant_id, open_issuer_session.user_id, 'session', of_name,
        open_issuer_session.opened_from, open_issuer_session.at,
        open_issuer_session.at + open_issuer_session.valid_s * interval '1 second',
        of_login
    )
    RETURNING token_id
    INTO v_session;
    PERFORM weft._end_surplus_sessions(
        open_issuer_session.user_id, v_session, sessions_max, open_issuer_session.at
    );
    RETURN v_session;
END $$;
