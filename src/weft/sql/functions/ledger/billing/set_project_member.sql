-- set_project_member: let a user charge a billing project, or no longer.
-- Safe to repeat: yes.
-- Streams of one who is no member any more end.
-- Locks: user; as _lock_project; member.
-- Plan: project and user by name.
-- Raises WF105, WF118 (no such user).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_project_member(
    tenant_id int, of_name text, of_user text, is_member boolean
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_project weft.billing_project;
    v_user int;
BEGIN
    -- Locked, so that nobody becomes a member while they are removed.
    SELECT u.user_id
    INTO v_user
    FROM weft.tenant_user u
    WHERE u.tenant_id = set_project_member.tenant_id
        AND u.name_key = weft._name_key(of_user)
        AND u.removed_at IS NULL
    FOR SHARE;
    IF NOT FOUND THEN
        PERFORM weft._no_user(of_user);
    END IF;
    v_project := weft._lock_project(set_project_member.tenant_id, of_name);
    IF is_member THEN
        INSERT INTO weft.billing_member (project_id, user_id, tenant_id)
        VALUES (v_project.project_id, v_user, set_project_member.tenant_id)
        ON CONFLICT DO NOTHING;
    ELSE
        DELETE FROM weft.billing_member m WHERE m.project_id = v_project.project_id AND m.user_id = v_user;
        PERFORM weft._tell_callers(v_user);
    END IF;
END $$;
