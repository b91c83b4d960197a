-- begin_visit: let an administrator of the site look into another tenant, and say so in the trail of that
--   tenant.
-- Safe to repeat: yes; each time there is one more entry.
-- Locks: as record_request.
-- Plan: users by key, tenants by name and by key.
-- request: as record_request has it, but for the tenant and the name of the user, which are found here.
-- Returns: one row, with the name under which that tenant knows the user; none if there is no such tenant, or
--   the user does not administer the site. Looking into one's own tenant is in no trail.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.begin_visit(by_user_id int, of_name text, request jsonb)
RETURNS TABLE (tenant_id int, tenant text, user_name text) LANGUAGE plpgsql AS $$
DECLARE
    v_home int;
    v_name text;
    v_visited weft.tenant;
BEGIN
    SELECT h.tenant_id, format('%s of tenant %s', u.name, h.name)
    INTO v_home, v_name
    FROM weft.tenant_user u
    JOIN weft.tenant h ON h.tenant_id = u.tenant_id
    WHERE u.user_id = by_user_id AND u.role = 'admin' AND u.removed_at IS NULL;
    SELECT t.* INTO v_visited FROM weft.tenant t WHERE t.name_key = weft._name_key(of_name);
    IF v_home IS NULL OR v_visited.tenant_id IS NULL THEN
        RETURN;
    END IF;
    IF v_visited.tenant_id <> v_home THEN
        PERFORM weft.record_request(
            begin_visit.request || jsonb_build_object('tenant_id', v_visited.tenant_id, 'user_name', v_name),
            NULL
        );
    END IF;
    RETURN QUERY SELECT v_visited.tenant_id, v_visited.name, v_name;
END $$;
