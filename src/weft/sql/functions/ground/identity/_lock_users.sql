-- _lock_users: let one change of the users of a tenant at a time, by somebody whose role is still the one
--   with which they asked.
-- Safe to repeat: yes.
-- Raises WF121.
-- Locks: tenant.
-- Plan: tenant and user by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lock_users(of_tenant_id int, by_user_id int, by_role text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM weft.tenant t WHERE t.tenant_id = of_tenant_id FOR NO KEY UPDATE;
    PERFORM
    FROM weft.tenant_user u
    WHERE u.user_id = by_user_id AND u.role = by_role AND u.removed_at IS NULL;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF121',
            'your role has changed',
            format('When you asked it was %s.', by_role),
            'See `weft whoami`.'
        );
    END IF;
END $$;
