-- set_tenant_quota: change how much all users of a tenant together may have at a time.
-- Safe to repeat: yes.
-- Locks: as _save_quota; as _limit_cores.
-- Plan: tenant by name.
-- Raises WF136 (no such tenant).
-- patch: as in set_quota.
-- Returns: as set_quota.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_tenant_quota(of_name text, patch jsonb) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    v_tenant weft.tenant;
BEGIN
    SELECT t.* INTO v_tenant FROM weft.tenant t WHERE t.name_key = weft._name_key(of_name);
    IF NOT FOUND THEN
        PERFORM weft._no_tenant(of_name);
    END IF;
    PERFORM weft._save_quota(v_tenant.tenant_id, -1, patch);
    PERFORM weft._limit_cores(v_tenant.tenant_id, -1);
    RETURN weft._quota_document('tenant', v_tenant.name, v_tenant.tenant_id, -1);
END $$;
