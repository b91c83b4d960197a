-- create_login_code: make a code with which a browser opens a session of a user, once. The user's former code
--   counts no more.
-- Safe to repeat: yes, the last code counts.
-- Locks: user (two requests leave one code); token.
-- Plan: as _token_that_asks; tokens of the user by index.
-- by_token: the one that asks; code and session end with it at the latest, and session_s from now; NULL: as
--   long as any session.
-- Returns: when the code expires.  Raises WF131.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_login_code(
    tenant_id int,
    user_id int,
    by_token bigint,
    of_hash bytea,
    of_scopes text[],
    valid_s double precision,
    session_s double precision,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    v_by weft.token;
    v_expires_at timestamptz := create_login_code.at + create_login_code.valid_s * interval '1 second';
BEGIN
    PERFORM FROM weft.tenant_user u WHERE u.user_id = create_login_code.user_id FOR NO KEY UPDATE;
    v_by := weft._token_that_asks(create_login_code.user_id, by_token);
    DELETE FROM weft.token t WHERE t.user_id = create_login_code.user_id AND t.kind = 'code';
    INSERT INTO weft.token (
        token_hash, tenant_id, user_id, kind, name, scopes, created_at, expires_at, session_ends_at, made_by
    )
    VALUES (
        of_hash, create_login_code.tenant_id, create_login_code.user_id, 'code', 'login link', of_scopes,
        create_login_code.at, v_expires_at,
        least(create_login_code.at + create_login_code.session_s * interval '1 second', v_by.expires_at),
        v_by.token_id
    );
    RETURN v_expires_at;
END $$;
