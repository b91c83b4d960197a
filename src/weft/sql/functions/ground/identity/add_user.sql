-- add_user: let a user into a tenant, with a role, a token, and as a member of the project `default`. One who
--   was removed comes back.
-- Safe to repeat: with an idempotency key; the new token replaces the one that was made with it, whose text
--   nobody may have got; if it was used, somebody has.
-- Locks: as _lock_users; user (nobody else); token; member (nobody else).
-- Plan: users of the tenant by index.
-- by_user_id, by_role: the caller.
-- Returns: the user's document.  Raises WF119 (there is one), WF121.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.add_user(
    tenant_id int,
    by_user_id int,
    by_role text,
    of_name text,
    of_role text,
    token_hash bytea,
    idempotency_key text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_user weft.tenant_user;
BEGIN
    PERFORM weft._lock_users(add_user.tenant_id, by_user_id, by_role);
    SELECT u.*
    INTO v_user
    FROM weft.tenant_user u
    WHERE u.tenant_id = add_user.tenant_id AND u.name_key = weft._name_key(of_name);
    IF v_user.user_id IS NULL THEN
        INSERT INTO weft.tenant_user (tenant_id, name, role)
        VALUES (add_user.tenant_id, of_name, of_role)
        RETURNING *
        INTO v_user;
    ELSIF v_user.removed_at IS NOT NULL THEN
        UPDATE weft.tenant_user u
        SET removed_at = NULL, role = of_role
        WHERE u.user_id = v_user.user_id
        RETURNING *
        INTO v_user;
        DELETE FROM weft.token t WHERE t.user_id = v_user.user_id;
    ELSE
        -- Only the token that this very request made: a key may be known, and stand for another token or
        -- role.
        DELETE FROM weft.token t
        WHERE t.user_id = v_user.user_id
            AND t.idempotency_key = add_user.idempotency_key
            AND t.name = 'first'
            AND t.last_used_at IS NULL
            AND v_user.role = of_role
            AND v_user.name = of_name;
        IF NOT FOUND THEN
            PERFORM weft._fail(
                'WF119',
                format('user "%s" exists already', v_user.name),
                'Names of users are unique in a tenant, whether in capitals or not.',
                'Choose another name; `weft user ls` lists those taken.'
            );
        END IF;
    END IF;
    INSERT INTO weft.token (token_hash, tenant_id, user_id, name, created_at, idempotency_key)
    VALUES (
        add_user.token_hash,
        add_user.tenant_id,
        v_user.user_id,
        'first',
        add_user.at,
        add_user.idempotency_key
    );
    INSERT INTO weft.billing_member (project_id, user_id, tenant_id)
    SELECT p.project_id, v_user.user_id, p.tenant_id
    FROM weft.billing_project p
    WHERE p.tenant_id = add_user.tenant_id AND p.name = 'default'
    ON CONFLICT DO NOTHING;
    RETURN weft._user_document(v_user);
END $$;
