-- end_sessions: end a session of a user, or all of them and the code that would open another; each api is told.
-- Called by: Store.end_sessions (api).   Safe to repeat: yes.
-- Locks: user (none is opened meanwhile); token.   Plan: tokens of the user by index.
-- of_session: NULL: all.   Returns: how many have ended.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.end_sessions(tenant_id int, user_id int, of_session bigint) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_ended bigint;
    v_count int := 0;
BEGIN
    PERFORM weft._as_tenant(end_sessions.tenant_id);
    PERFORM FROM weft.tenant_user u WHERE u.user_id = end_sessions.user_id FOR NO KEY UPDATE;
    IF of_session IS NULL THEN
        DELETE FROM weft.token t WHERE t.user_id = end_sessions.user_id AND t.kind = 'code';
    END IF;
    FOR v_ended IN
        DELETE FROM weft.token t
        WHERE t.user_id = end_sessions.user_id AND t.kind = 'session' AND (of_session IS NULL OR t.token_id = of_session)
        RETURNING t.token_id
    LOOP
        PERFORM pg_notify('callers', v_ended::text);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;
