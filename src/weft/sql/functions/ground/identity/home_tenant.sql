-- home_tenant: what the installation's own tenant is called: the first one, which `weft up` has made. Tenants
--   are neither removed nor renamed. It is `default` where a release made it that has this function, and
--   `local` where an earlier one did.
-- Plan: tenant by key.
-- Returns: its name; null: there are no tenants yet.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.home_tenant() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT t.name FROM weft.tenant t ORDER BY t.tenant_id LIMIT 1
$$;
