-- revoke_token: forget a token of a user, on every api at once: each is told.
-- Called by: Store.revoke_token (api).   Safe to repeat: yes.
-- Locks: token.   Plan: token by index.   Returns: whether there was one.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.revoke_token(tenant_id int, user_id int, of_token_id bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM weft._as_tenant(revoke_token.tenant_id);
    DELETE FROM weft.token t WHERE t.user_id = revoke_token.user_id AND t.token_id = of_token_id AND t.kind = 'token';
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM pg_notify('callers', of_token_id::text);
    RETURN true;
END $$;
