-- set_user_weight: give a user another weight in the fair shares of all pools, for good or until a date.
-- Safe to repeat: yes.
-- Locks: user.
-- Plan: users of the tenant by index.
-- Returns: the user's document.  Raises WF118.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_user_weight(tenant_id int, of_name text, weight int, until timestamptz)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_user weft.tenant_user;
BEGIN
    UPDATE weft.tenant_user u
    SET weight = set_user_weight.weight, weight_until = set_user_weight.until
    WHERE u.tenant_id = set_user_weight.tenant_id
        AND u.name_key = weft._name_key(of_name)
        AND u.removed_at IS NULL
    RETURNING u.*
    INTO v_user;
    IF NOT FOUND THEN
        PERFORM weft._no_user(of_name);
    END IF;
    PERFORM pg_notify('driver', 'terms');
    RETURN weft._user_document(v_user);
END $$;
