-- check_login: who is logged in, and whether that user may act as a role's login.
-- Owner: weft_system.
-- Granted to: weft_api, weft_driver, weft_worker.
CREATE OR REPLACE FUNCTION weft.check_login(login text, OUT user_name text, OUT may_act boolean)
LANGUAGE sql STABLE AS $$
    SELECT session_user, pg_has_role(session_user, check_login.login, 'USAGE')
$$;
