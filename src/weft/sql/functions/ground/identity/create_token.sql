-- create_token: make a token of a user, of which only the SHA-256 is kept. Those that expired a month ago are
--   forgotten.
-- Safe to repeat: with an idempotency key; the new token replaces that of the same key, kind and name, whose
--   text nobody may have got.
-- Locks: user (two requests do not pass the limit together); as _end_tokens; token (a new one).
-- Plan: tokens of the user by index.
-- by_token: the one that asks; no other is good for longer. What a session makes ends with it, and so does
--   what that makes.
-- scopes: NULL: all that the user's role allows.
-- of_kind: token, answer.
-- of_pool, of_workers: of a worker outside: its pool, and the names that it may have; NULL: it is not for a
--   worker.
-- Returns: its document.  Raises WF117 (too many), WF131.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_token(
    tenant_id int,
    user_id int,
    by_token bigint,
    of_hash bytea,
    of_name text,
    of_scopes text[],
    valid_s double precision,
    tokens_max int,
    idempotency_key text,
    of_pool text DEFAULT NULL,
    of_workers text DEFAULT NULL,
    of_kind text DEFAULT 'token',
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_new weft.token;
    v_by weft.token;
BEGIN
    PERFORM FROM weft.tenant_user u WHERE u.user_id = create_token.user_id FOR NO KEY UPDATE;
    v_by := weft._token_that_asks(create_token.user_id, by_token);
    PERFORM weft._end_tokens(
        create_token.user_id,
        ARRAY(
            SELECT t.token_id
            FROM weft.token t
            WHERE t.user_id = create_token.user_id
                AND (
                    t.expires_at < create_token.at - interval '30 days'
                        OR (t.idempotency_key, t.kind, t.name) = (
                            create_token.idempotency_key, of_kind, of_name
                        )
                )
        )
    );
    SELECT count(*)
    INTO v_count
    FROM weft.token t
    WHERE t.user_id = create_token.user_id
        AND (t.kind IN ('token', 'answer') OR t.kind = 'invitation' AND t.opened_from IS NULL)
        AND (t.expires_at IS NULL OR t.expires_at > create_token.at);
    IF v_count >= create_token.tokens_max THEN
        PERFORM weft._fail(
            'WF117',
            'you have too many tokens',
            format('You have %s, at most %s (tokens_per_user_max).', v_count, tokens_max),
            'Revoke one with `weft token revoke`.'
        );
    END IF;
    INSERT INTO weft.token (
        token_hash, tenant_id, user_id, kind, name, scopes, created_at, expires_at, idempotency_key, made_by,
        pool, worker_names
    )
    VALUES (
        of_hash, create_token.tenant_id, create_token.user_id, of_kind, of_name, of_scopes, create_token.at,
        least(create_token.at + create_token.valid_s * interval '1 second', v_by.expires_at),
        create_token.idempotency_key,
        CASE v_by.kind WHEN 'session' THEN v_by.token_id ELSE v_by.made_by END,
        of_pool,
        of_workers
    )
    RETURNING *
    INTO v_new;
    RETURN weft._token_document(v_new);
END $$;
