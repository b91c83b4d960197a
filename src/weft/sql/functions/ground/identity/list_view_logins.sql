-- list_view_logins: who may log in to read the views of dashboards.
-- Plan: all of them, which are few.
-- Returns: a row for each login, in the order of their names.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.list_view_logins() RETURNS SETOF jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('login', v.login, 'tenant', t.name, 'created_at', v.created_at)
    FROM weft.view_login v
    JOIN weft.tenant t ON t.tenant_id = v.tenant_id
    ORDER BY v.login
$$;
