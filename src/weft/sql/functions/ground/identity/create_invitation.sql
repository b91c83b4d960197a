-- create_invitation: make a token with which a worker outside gets one of its own, once: no request is
--   answered with it.
-- Safe to repeat: as create_token.
-- Locks: as create_token; token (nobody else).
-- Plan: as create_token.
-- valid_s: how long the worker's token is good at most; NULL: as long as the one that asks.
-- invitation_s: how long the invitation is.
-- Returns: its document.  Raises: as create_token.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_invitation(
    tenant_id int,
    user_id int,
    by_token bigint,
    of_hash bytea,
    of_name text,
    of_scopes text[],
    valid_s double precision,
    tokens_max int,
    idempotency_key text,
    of_pool text,
    of_workers text,
    invitation_s double precision,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_new weft.token;
BEGIN
    PERFORM weft.create_token(
        create_invitation.tenant_id, create_invitation.user_id, by_token, of_hash, of_name, of_scopes,
        valid_s, tokens_max,
        create_invitation.idempotency_key,
        of_pool, of_workers, 'token', create_invitation.at
    );
    UPDATE weft.token t
    SET
        kind = 'invitation',
        session_ends_at = t.expires_at,
        expires_at = least(t.expires_at, create_invitation.at + invitation_s * interval '1 second')
    WHERE t.token_hash = of_hash
    RETURNING t.*
    INTO v_new;
    RETURN weft._token_document(v_new);
END $$;
