-- end_sessions: end a session of a user, or all of them and the code that would open another, with what was
--   made by them; each api is told.
-- Safe to repeat: yes.
-- Locks: user (none is opened meanwhile); as _end_tokens.
-- Plan: tokens of the user by index.
-- of_session: NULL: all.
-- Returns: how many have ended.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.end_sessions(tenant_id int, user_id int, of_session bigint) RETURNS int
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM weft.tenant_user u WHERE u.user_id = end_sessions.user_id FOR NO KEY UPDATE;
    RETURN weft._end_tokens(
        end_sessions.user_id,
        ARRAY(
            SELECT t.token_id
            FROM weft.token t
            WHERE t.user_id = end_sessions.user_id
                AND CASE
                    WHEN of_session IS NULL THEN t.kind IN ('session', 'code')
                    ELSE t.kind = 'session' AND t.token_id = of_session
                END
        )
    );
END $$;
