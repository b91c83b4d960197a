-- tenant_name: what the caller's tenant is called.
-- Safe to repeat: yes, it only reads.
-- Plan: tenant by key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.tenant_name(tenant_id int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT t.name FROM weft.tenant t WHERE t.tenant_id = tenant_name.tenant_id);
END $$;
