-- accept_invitation: give a worker that was invited a token of its own, for its name alone. The invitation
--   counts no more.
-- Safe to repeat: with an idempotency key, for the same worker: the new token replaces that of the key, whose
--   text nobody may have got.
-- Locks: user (nothing is ended meanwhile); token.
-- Plan: token by key; tokens of the user by index.
-- Returns: as authenticate.  Raises WF182 (unknown, used or expired), WF301 (such a worker runs; it still
--   counts).
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.accept_invitation(
    of_hash bytea,
    worker_hash bytea,
    of_worker text,
    idempotency_key text,
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
    v_by weft.token;
    v_first bigint[];
    v_key text := encode(of_hash, 'hex') || ' ' || accept_invitation.idempotency_key;
BEGIN
    PERFORM
    FROM weft.tenant_user u
    WHERE u.user_id = (SELECT t.user_id FROM weft.token t WHERE t.token_hash = of_hash)
    FOR NO KEY UPDATE;
    SELECT t.* INTO v_by FROM weft.token t WHERE t.token_hash = of_hash AND t.kind = 'invitation' FOR UPDATE;
    v_first := ARRAY(
        SELECT t.token_id
        FROM weft.token t
        WHERE t.user_id = v_by.user_id AND t.name = of_worker AND t.idempotency_key = v_key
    );
    IF v_first <> '{}' THEN
        PERFORM weft._end_tokens(v_by.user_id, v_first);
        v_by.opened_from := NULL;
    END IF;
    IF v_by.token_hash IS NULL OR v_by.opened_from IS NOT NULL OR v_by.expires_at <= accept_invitation.at THEN
        PERFORM weft._fail(
            'WF182',
            'this invitation cannot be used',
            CASE
                WHEN v_by.opened_from IS NOT NULL
                    THEN format('The worker "%s" has used it.', v_by.opened_from)
                WHEN v_by.expires_at <= accept_invitation.at THEN 'It has expired.'
                ELSE 'The server does not know it: it was revoked, or is of another server.'
            END,
            'Ask for another one: `weft worker invite`. What has joined once needs none to start again.'
        );
    END IF;
    IF EXISTS (
        SELECT
        FROM weft.worker_incarnation i
        JOIN weft.worker w
        USING (worker_id)
        JOIN weft.pool p ON p.pool_id = w.pool_id
        WHERE w.name = of_worker AND p.name = v_by.pool AND i.ended_at IS NULL
    ) THEN
        PERFORM weft._fail(
            'WF301',
            format('worker "%s" is already running', of_worker),
            'A machine joins with a name of its own.',
            'Add `--worker-name NAME` to the line: the invitation was not used.'
        );
    END IF;
    UPDATE weft.token t SET opened_from = of_worker WHERE t.token_hash = of_hash;
    INSERT INTO weft.token (
        token_hash, tenant_id, user_id, name, scopes, created_at, expires_at, made_by, pool, worker_names,
        idempotency_key
    )
    VALUES (
        worker_hash, v_by.tenant_id, v_by.user_id, of_worker, v_by.scopes, accept_invitation.at,
        v_by.session_ends_at, v_by.made_by, v_by.pool,
        regexp_replace(of_worker, '([*?[])', '[\1]', 'g'),
        v_key
    );
    RETURN QUERY SELECT * FROM weft.authenticate(worker_hash, 'token', accept_invitation.at);
END $$;
