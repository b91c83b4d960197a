-- tenant_allowed: what jobs of a tenant may choose of images and engines: lists of patterns by kind; of a
--   missing kind anything.
-- Safe to repeat: yes, it only reads.
-- Plan: tenant by key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.tenant_allowed(tenant_id int) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT t.allowed FROM weft.tenant t WHERE t.tenant_id = tenant_allowed.tenant_id);
END $$;
