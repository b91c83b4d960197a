-- list_tokens: the tokens of a user, also links that answer a job, and invitations that nobody has used, the
--   oldest first.
-- Safe to repeat: yes, it only reads.
-- Plan: tokens of the user by index.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_tokens(tenant_id int, user_id int) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT weft._token_document(t)
    FROM weft.token t
    WHERE t.user_id = list_tokens.user_id
        AND (t.kind IN ('token', 'answer') OR t.kind = 'invitation' AND t.opened_from IS NULL)
    ORDER BY t.token_id;
END $$;
