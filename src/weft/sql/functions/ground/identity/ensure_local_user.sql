-- ensure_local_user: make the missing ones of a home's tenant, user, project, queue and token.
-- Safe to repeat: yes.
-- Locks: none but new rows.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.ensure_local_user(tenant text, user_name text, token_hash bytea) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_tenant int;
    v_user int;
BEGIN
    INSERT INTO weft.tenant (name) VALUES (ensure_local_user.tenant) ON CONFLICT DO NOTHING;
    SELECT t.tenant_id
    INTO v_tenant
    FROM weft.tenant t
    WHERE t.name_key = weft._name_key(ensure_local_user.tenant);
    INSERT INTO weft.tenant_user (tenant_id, name, role)
    VALUES (v_tenant, ensure_local_user.user_name, 'admin')
    ON CONFLICT DO NOTHING;
    SELECT u.user_id
    INTO v_user
    FROM weft.tenant_user u
    WHERE u.tenant_id = v_tenant AND u.name_key = weft._name_key(user_name);
    PERFORM weft._furnish_tenant(v_tenant, v_user);
    INSERT INTO weft.token (token_hash, tenant_id, user_id)
    VALUES (ensure_local_user.token_hash, v_tenant, v_user)
    ON CONFLICT DO NOTHING;
END $$;
