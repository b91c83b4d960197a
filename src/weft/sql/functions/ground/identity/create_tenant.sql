-- create_tenant: make a tenant with what every tenant has, and its first user, a tenant-admin, with a token.
-- Safe to repeat: with an idempotency key; the new token replaces the one that was made with it, whose text
--   nobody may have got; if it was used, somebody has.
-- Locks: token; as _furnish_tenant.
-- Plan: tenant and users by index.
-- by_user_id: the caller, of any tenant.
-- Returns: its number.  Raises WF121 (the caller is no longer an admin), WF122 (there is one).
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_tenant(
    by_user_id int,
    of_name text,
    admin_name text,
    token_hash bytea,
    idempotency_key text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_tenant int;
    v_user int;
BEGIN
    PERFORM
    FROM weft.tenant_user u
    WHERE u.user_id = by_user_id AND u.role = 'admin' AND u.removed_at IS NULL;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF121', 'your role has changed', 'When you asked it was admin.', 'See `weft whoami`.'
        );
    END IF;
    INSERT INTO weft.tenant (name) VALUES (of_name) ON CONFLICT DO NOTHING RETURNING tenant_id INTO v_tenant;
    IF v_tenant IS NOT NULL THEN
        INSERT INTO weft.tenant_user (tenant_id, name, role)
        VALUES (v_tenant, admin_name, 'tenant-admin')
        RETURNING user_id
        INTO v_user;
        PERFORM weft._furnish_tenant(v_tenant, v_user);
    ELSE
        DELETE FROM weft.token k
        USING weft.tenant t, weft.tenant_user u
        WHERE t.name_key = weft._name_key(of_name)
            AND u.tenant_id = t.tenant_id
            AND u.name_key = weft._name_key(admin_name)
            AND u.removed_at IS NULL
            AND k.user_id = u.user_id
            AND k.idempotency_key = create_tenant.idempotency_key
            AND k.name = 'first'
            AND k.last_used_at IS NULL
            AND u.role = 'tenant-admin'
        RETURNING k.tenant_id, k.user_id
        INTO v_tenant, v_user;
        IF NOT FOUND THEN
            PERFORM weft._fail(
                'WF122',
                format('tenant "%s" exists already', of_name),
                'Names of tenants are unique, whether in capitals or not.',
                'Choose another name; `weft tenant ls` lists those taken.'
            );
        END IF;
    END IF;
    INSERT INTO weft.token (token_hash, tenant_id, user_id, name, created_at, idempotency_key)
    VALUES (
        create_tenant.token_hash, v_tenant, v_user, 'first', create_tenant.at, create_tenant.idempotency_key
    );
    RETURN v_tenant;
END $$;
