-- set_secret: keep the encrypted value of a secret of a user; one of the same name is replaced.
-- Safe to repeat: yes.
-- Locks: user (two requests do not pass the limit together); secret.
-- Plan: user and secrets of the user by key.
-- Returns: its document.  Raises WF131 (the user is removed), WF132 (too many): a lock would make an entry in
--   the trail.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_secret(
    tenant_id int,
    user_id int,
    of_name text,
    of_body bytea,
    secrets_max int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_new weft.secret;
BEGIN
    PERFORM
    FROM weft.tenant_user u
    WHERE u.user_id = set_secret.user_id AND u.removed_at IS NULL
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF131',
            'the request is not authenticated',
            'The user was removed meanwhile.',
            'Use another token.'
        );
    END IF;
    IF secrets_max <= (
        SELECT count(*) FROM weft.secret s WHERE s.user_id = set_secret.user_id AND s.name <> of_name
    ) THEN
        PERFORM weft._fail(
            'WF132',
            'you have too many secrets',
            format('A user may have %s (secrets_per_user_max).', secrets_max),
            'Remove one with `weft secret rm NAME`.'
        );
    END IF;
    INSERT INTO weft.secret AS s (user_id, name, tenant_id, body, created_at, updated_at)
    VALUES (set_secret.user_id, of_name, set_secret.tenant_id, of_body, set_secret.at, set_secret.at)
    ON CONFLICT (user_id, name) DO UPDATE
    SET body = excluded.body, updated_at = excluded.updated_at
    RETURNING s.*
    INTO v_new;
    RETURN NEXT weft._secret_document(v_new);
END $$;
