-- revoke_token: forget a token of a user and what was made by it, on every api at once: each is told.
-- Safe to repeat: yes.
-- Locks: user (nothing is made by it meanwhile); as _end_tokens.
-- Plan: tokens of the user by index.
-- Returns: whether there was one.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.revoke_token(tenant_id int, user_id int, of_token_id bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT
        FROM weft.token t
        WHERE t.user_id = revoke_token.user_id
            AND t.token_id = of_token_id
            AND t.kind IN ('token', 'invitation', 'answer')
    ) THEN
        RETURN false;
    END IF;
    PERFORM FROM weft.tenant_user u WHERE u.user_id = revoke_token.user_id FOR NO KEY UPDATE;
    PERFORM weft._end_tokens(revoke_token.user_id, ARRAY[of_token_id]);
    RETURN true;
END $$;
