-- _token_that_asks: the token or session of a user that asks for another; 0: it is of another issuer, and
--   nothing is known of it.
-- Plan: token by index.
-- For: create_login_code, create_token, which have the user locked.
-- Raises WF131 (it was revoked, or the session has ended).
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._token_that_asks(of_user_id int, by_token bigint) RETURNS weft.token
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_token weft.token;
BEGIN
    SELECT t.* INTO v_token FROM weft.token t WHERE t.user_id = of_user_id AND t.token_id = by_token;
    IF NOT FOUND AND by_token <> 0 THEN
        PERFORM weft._fail(
            'WF131',
            'the request is not authenticated',
            'The token was revoked, or the session has ended, meanwhile.',
            'Use another token.'
        );
    END IF;
    RETURN v_token;
END $$;
