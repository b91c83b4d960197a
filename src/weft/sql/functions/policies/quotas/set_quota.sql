-- set_quota: change how much a user of the tenant, or each of them, may have at a time.
-- Safe to repeat: yes.
-- Locks: as _save_quota; as _limit_cores.
-- Plan: user by name.
-- Raises WF118 (no such user).
-- Submissions that are under way end first, and those after it see it.
-- A removed user has quotas as well: their jobs may wait at one.
-- of_name NULL: each user.
-- patch: any of jobs, batches, cores, bytes (null: no limit).
-- Returns: the limits now; what is used is in list_quotas.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_quota(tenant_id int, of_name text, patch jsonb) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    v_user weft.tenant_user;
BEGIN
    IF of_name IS NULL THEN
        PERFORM weft._save_quota(set_quota.tenant_id, 0, patch);
        PERFORM weft._limit_cores(set_quota.tenant_id, 0);
        RETURN weft._quota_document('each_user', NULL, set_quota.tenant_id, 0);
    END IF;
    SELECT u.*
    INTO v_user
    FROM weft.tenant_user u
    WHERE u.tenant_id = set_quota.tenant_id AND u.name_key = weft._name_key(of_name);
    IF NOT FOUND THEN
        PERFORM weft._no_user(of_name);
    END IF;
    PERFORM weft._save_quota(set_quota.tenant_id, v_user.user_id, patch);
    PERFORM weft._limit_cores(set_quota.tenant_id, v_user.user_id);
    RETURN weft._quota_document('user', v_user.name, set_quota.tenant_id, v_user.user_id);
END $$;
