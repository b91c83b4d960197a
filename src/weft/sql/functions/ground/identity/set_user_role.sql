-- set_user_role: give a user another role, on every api at once: each is told to forget the user's tokens.
-- Safe to repeat: yes.
-- Locks: as _lock_users; as _user_to_change; user.
-- Plan: users of the tenant and tokens of the user by index.
-- by_user_id, by_role: the caller.
-- may_give: as in _user_to_change.
-- Returns: the user's document.  Raises WF118, WF120, WF121.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_user_role(
    tenant_id int, by_user_id int, by_role text, of_name text, new_role text, may_give text[]
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_user weft.tenant_user;
BEGIN
    PERFORM weft._lock_users(set_user_role.tenant_id, by_user_id, by_role);
    v_user := weft._user_to_change(set_user_role.tenant_id, of_name, new_role, may_give);
    UPDATE weft.tenant_user u SET role = new_role WHERE u.user_id = v_user.user_id RETURNING * INTO v_user;
    PERFORM weft._tell_callers(v_user.user_id);
    RETURN weft._user_document(v_user);
END $$;
