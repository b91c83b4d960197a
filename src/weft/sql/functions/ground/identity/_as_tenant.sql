-- _as_tenant: from here to the end of the transaction only this tenant's rows exist (row-level security).
-- Safe to repeat: yes.
-- For: every function of the api, first; put in there.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._as_tenant(tenant_id int) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT set_config('weft.tenant', _as_tenant.tenant_id::text, true)
$$;
