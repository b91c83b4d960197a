-- _user_to_change: lock a user who gets another role or is removed (new_role: NULL), then also one who is
--   removed already.
-- Safe to repeat: yes.
-- Locks: user.
-- Plan: users of the tenant by index.
-- may_give: the roles that the caller may give and take.
-- Raises WF118 (no such user), WF120 (the last administrator), WF121 (the user may do more than the caller).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._user_to_change(
    of_tenant_id int, of_name text, new_role text, may_give text[]
) RETURNS weft.tenant_user LANGUAGE plpgsql AS $$
DECLARE
    v_user weft.tenant_user;
BEGIN
    SELECT u.*
    INTO v_user
    FROM weft.tenant_user u
    WHERE u.tenant_id = of_tenant_id
        AND u.name_key = weft._name_key(of_name)
        AND (new_role IS NULL OR u.removed_at IS NULL)
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM weft._no_user(of_name);
    END IF;
    IF v_user.role <> ALL (may_give) THEN
        PERFORM weft._fail(
            'WF121',
            format('user "%s" may do more than you', v_user.name),
            format('Their role is %s.', v_user.role),
            'Ask somebody who has that role.'
        );
    END IF;
    IF v_user.removed_at IS NULL
        AND EXISTS (
            SELECT
            FROM (VALUES (ARRAY['admin']), (ARRAY['admin', 'tenant-admin'])) k (roles)
            WHERE v_user.role = ANY (k.roles)
                AND (new_role = ANY (k.roles)) IS NOT TRUE
                AND NOT EXISTS (
                    SELECT
                    FROM weft.tenant_user o
                    WHERE o.tenant_id = of_tenant_id
                        AND o.role = ANY (k.roles)
                        AND o.removed_at IS NULL
                        AND o.user_id <> v_user.user_id
                )
        )
    THEN
        PERFORM weft._fail(
            'WF120',
            format('user "%s" is the last %s of the tenant', v_user.name, v_user.role),
            'Nobody else could give this role back.',
            'Give the role to somebody else first, with `weft user role`.'
        );
    END IF;
    RETURN v_user;
END $$;
