-- find_tenant: the number of the tenant of this name, in capitals or not.
-- Plan: tenant by name.
-- Raises WF136.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.find_tenant(of_name text) RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_tenant int;
BEGIN
    SELECT t.tenant_id INTO v_tenant FROM weft.tenant t WHERE t.name_key = weft._name_key(of_name);
    IF NOT FOUND THEN
        PERFORM weft._no_tenant(of_name);
    END IF;
    RETURN v_tenant;
END $$;
