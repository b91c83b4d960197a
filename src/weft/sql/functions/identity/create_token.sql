-- create_token: make a token of a user, of which only the SHA-256 is kept. Those that expired a month ago are forgotten.
-- Called by: Store.create_token (api).   Safe to repeat: with an idempotency key; the new token replaces the one that was made with it,
--   whose text nobody may have got.
-- Locks: user (two requests do not pass the limit together); token (new, replaced and forgotten ones).   Plan: tokens of the user by index.
-- by_token: the one that asks; no other is good for longer.   scopes: NULL: all that the user's role allows.
-- Returns: its document.  Raises WF117 (too many).
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_token(tenant_id int, user_id int, by_token bigint, of_hash bytea, of_name text, of_scopes text[],
    valid_s double precision, tokens_max int, idempotency_key text, at timestamptz DEFAULT clock_timestamp()) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_count bigint; v_new weft.token;
BEGIN
    PERFORM weft._as_tenant(create_token.tenant_id);
    PERFORM FROM weft.tenant_user u WHERE u.user_id = create_token.user_id FOR NO KEY UPDATE;
    DELETE FROM weft.token t WHERE t.user_id = create_token.user_id
        AND (t.expires_at < create_token.at - interval '30 days' OR t.idempotency_key = create_token.idempotency_key);
    SELECT count(*) INTO v_count FROM weft.token t
    WHERE t.user_id = create_token.user_id AND t.kind = 'token' AND (t.expires_at IS NULL OR t.expires_at > create_token.at);
    IF v_count >= create_token.tokens_max THEN
        PERFORM weft._fail('WF117', 'you have too many tokens', format('You have %s, at most %s.', v_count, create_token.tokens_max),
            'Revoke one with `weft token revoke`.');
    END IF;
    INSERT INTO weft.token (token_hash, tenant_id, user_id, name, scopes, created_at, expires_at, idempotency_key)
    VALUES (of_hash, create_token.tenant_id, create_token.user_id, of_name, of_scopes, create_token.at,
            least(create_token.at + create_token.valid_s * interval '1 second', (
                SELECT t.expires_at FROM weft.token t WHERE t.user_id = create_token.user_id AND t.token_id = by_token)),
            create_token.idempotency_key)
    RETURNING * INTO v_new;
    RETURN weft._token_document(v_new);
END $$;
