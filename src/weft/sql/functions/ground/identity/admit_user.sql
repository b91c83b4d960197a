-- admit_user: the user of a tenant for whom an issuer that the operator trusts vouches; with its role for
--   them, if it says one.
-- Safe to repeat: yes.
-- Locks: user (nobody else); member (nobody else).
-- Plan: tenant by name, user by tenant and name.
-- may_create: whether somebody who is no user yet becomes one. One who was removed stays out.
-- Returns: one row, or none if the tenant or the user does not exist.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.admit_user(of_tenant text, of_name text, of_role text, may_create boolean)
RETURNS TABLE (tenant_id int, user_id int, user_name text, role text) LANGUAGE plpgsql AS $$
DECLARE
    v_tenant int;
    v_user weft.tenant_user;
BEGIN
    SELECT t.tenant_id INTO v_tenant FROM weft.tenant t WHERE t.name_key = weft._name_key(of_tenant);
    SELECT u.*
    INTO v_user
    FROM weft.tenant_user u
    WHERE u.tenant_id = v_tenant AND u.name_key = weft._name_key(of_name);
    IF v_user.user_id IS NULL AND v_tenant IS NOT NULL AND may_create THEN
        INSERT INTO weft.tenant_user (tenant_id, name, role)
        VALUES (v_tenant, of_name, coalesce(of_role, 'user'))
        ON CONFLICT DO NOTHING;
        SELECT u.*
        INTO v_user
        FROM weft.tenant_user u
        WHERE u.tenant_id = v_tenant AND u.name_key = weft._name_key(of_name);
        INSERT INTO weft.billing_member (project_id, user_id, tenant_id)
        SELECT p.project_id, v_user.user_id, v_tenant
        FROM weft.billing_project p
        WHERE p.tenant_id = v_tenant AND p.name = 'default'
        ON CONFLICT DO NOTHING;
    END IF;
    -- An issuer may tell apart what a key does not: straße and strasse, the Kelvin sign and k.
    IF v_user.user_id IS NULL
        OR v_user.removed_at IS NOT NULL
        OR lower(v_user.name COLLATE "C") <> lower(of_name COLLATE "C")
    THEN
        RETURN;
    END IF;
    IF of_role <> v_user.role THEN
        UPDATE weft.tenant_user u
        SET role = of_role
        WHERE u.user_id = v_user.user_id AND u.removed_at IS NULL
        RETURNING *
        INTO v_user;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        PERFORM weft._tell_callers(v_user.user_id);
    END IF;
    RETURN QUERY SELECT v_tenant, v_user.user_id, v_user.name, v_user.role;
END $$;
