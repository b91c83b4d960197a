-- What the functions need before they can be given to their owners (docs/guides/external-database.md): a
--   migrating user that is not a superuser must be a member of the owners. Since PostgreSQL 16 a user that
--   makes a role may give it away, but is not itself a member. Members of the logins see which programs are
--   connected. Where a database is not open to everybody, the logins are granted access. Whoever may give it
--   away lets `get_system` see since when transactions of others are open.
DO $$
DECLARE
    v_role text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY[
        'weft_tenant', 'weft_system', 'weft_views', 'weft_api', 'weft_driver', 'weft_worker'
    ] LOOP
        IF NOT pg_has_role(current_user, v_role, 'USAGE') THEN
            EXECUTE format('GRANT %I TO CURRENT_USER', v_role);
        END IF;
    END LOOP;
    FOREACH v_role IN ARRAY ARRAY['weft_api', 'weft_driver', 'weft_worker'] LOOP
        IF NOT has_database_privilege(v_role, current_database(), 'CONNECT') THEN
            EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), v_role);
        END IF;
    END LOOP;
    IF NOT pg_has_role('weft_system', 'pg_read_all_stats', 'USAGE')
        AND (
            (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user)
                OR pg_has_role(current_user, 'pg_read_all_stats', 'MEMBER WITH ADMIN OPTION')
        )
    THEN
        GRANT pg_read_all_stats TO weft_system;
    END IF;
END $$;
