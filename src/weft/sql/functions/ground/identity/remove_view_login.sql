-- remove_view_login: end a login that reads the views of dashboards. Its open sessions see no rows any more.
-- Safe to repeat: no, there is none then.
-- Locks: view_login.
-- Returns: nothing.
-- Raises WF181 (no such login of this database).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.remove_view_login(login name) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.view_login v WHERE v.login = remove_view_login.login;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF181',
            format('login "%s" does not exist', login),
            'No dashboard has a login of this name.',
            '`weft db views ls` lists those that there are.'
        );
    END IF;
    EXECUTE format('REVOKE USAGE ON SCHEMA weft_views FROM %I', login);
    EXECUTE format('REVOKE CONNECT ON DATABASE %I FROM %I', current_database(), login);
    EXECUTE format('DROP ROLE %I', login);
END $$;
