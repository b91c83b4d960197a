-- ensure_local_user: make the missing ones of a home's tenant, user, project, queue and token.
-- Called by: Admin.ensure_local_user (weft up).   Safe to repeat: yes.
-- Locks: none but new rows.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.ensure_local_user(tenant text, user_name text, token_hash bytea) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
    v_tenant int; v_user int; v_project int;
BEGIN
    INSERT INTO weft.tenant (name) VALUES (ensure_local_user.tenant) ON CONFLICT DO NOTHING;
    SELECT t.tenant_id INTO v_tenant FROM weft.tenant t WHERE t.name = ensure_local_user.tenant;
    INSERT INTO weft.tenant_user (tenant_id, name, role) VALUES (v_tenant, ensure_local_user.user_name, 'admin') ON CONFLICT DO NOTHING;
    SELECT u.user_id INTO v_user FROM weft.tenant_user u WHERE u.tenant_id = v_tenant AND lower(u.name) = lower(user_name);
    INSERT INTO weft.billing_project (tenant_id, name) VALUES (v_tenant, 'default') ON CONFLICT DO NOTHING;
    SELECT p.project_id INTO v_project FROM weft.billing_project p WHERE p.tenant_id = v_tenant AND p.name = 'default';
    INSERT INTO weft.billing_member (project_id, user_id, tenant_id) VALUES (v_project, v_user, v_tenant) ON CONFLICT DO NOTHING;
    INSERT INTO weft.queue (tenant_id, pool_id, name) SELECT v_tenant, p.pool_id, 'default' FROM weft.pool p WHERE p.name = 'default'
        ON CONFLICT DO NOTHING;
    INSERT INTO weft.token (token_hash, tenant_id, user_id) VALUES (ensure_local_user.token_hash, v_tenant, v_user) ON CONFLICT DO NOTHING;
END $$;
