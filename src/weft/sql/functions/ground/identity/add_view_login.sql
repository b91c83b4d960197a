-- add_view_login: let somebody log in who reads the views of dashboards, those of one tenant and nothing else
--   (ADR 127).
-- Safe to repeat: no.
-- Locks: none that others wait for.
-- scram: what proves its password.
-- The limits hold back a query that was written carelessly; a session may set its own, but for
--   the number of connections.
-- Returns: nothing.
-- Raises WF136 (no such tenant), WF281 (the cluster has such a role).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.add_view_login(
    login name,
    tenant text,
    scram text,
    timeout_s int,
    connections int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_tenant int;
    v_setting text[];
BEGIN
    SELECT t.tenant_id
    INTO v_tenant
    FROM weft.tenant t
    WHERE t.name_key = weft._name_key(add_view_login.tenant);
    IF NOT FOUND THEN
        PERFORM weft._no_tenant(add_view_login.tenant);
    END IF;
    BEGIN
        EXECUTE format(
            'CREATE ROLE %I LOGIN NOINHERIT PASSWORD %L CONNECTION LIMIT %s', login, scram, connections
        );
    EXCEPTION
        WHEN duplicate_object THEN
            PERFORM weft._fail(
                'WF281',
                format('login "%s" is there already', login),
                'The server has a role of this name.',
                'Choose another name; `weft db views ls` lists those of dashboards.'
            );
    END;
    FOREACH v_setting SLICE 1 IN ARRAY ARRAY[
        ['search_path', 'weft_views'],
        ['default_transaction_read_only', 'on'],
        ['statement_timeout', timeout_s || 's'],
        ['idle_in_transaction_session_timeout', timeout_s || 's'],
        ['lock_timeout', '1s']
    ] LOOP
        EXECUTE format('ALTER ROLE %I SET %I TO %L', login, v_setting[1], v_setting[2]);
    END LOOP;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), login);
    EXECUTE format('GRANT USAGE ON SCHEMA weft_views TO %I', login);
    INSERT INTO weft.view_login (login, tenant_id, created_at)
    VALUES (add_view_login.login, v_tenant, add_view_login.at);
END $$;
