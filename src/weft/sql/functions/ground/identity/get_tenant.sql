-- get_tenant: the tenant with this number, if this is its name.
-- Safe to repeat: yes, it only reads.
-- Plan: tenant by key; as _tenant_document.
-- Raises WF136.
-- Returns: its document.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_tenant(tenant_id int, of_name text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_tenant weft.tenant;
BEGIN
    SELECT t.*
    INTO v_tenant
    FROM weft.tenant t
    WHERE t.tenant_id = get_tenant.tenant_id AND t.name_key = weft._name_key(of_name);
    IF NOT FOUND THEN
        PERFORM weft._no_tenant(of_name);
    END IF;
    RETURN weft._tenant_document(v_tenant);
END $$;
