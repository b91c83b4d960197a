-- remove_secret: forget a secret of a user. Attempts that start from now on do not get it.
-- Safe to repeat: yes.
-- Locks: secret.
-- Plan: by key.
-- Returns: whether there was one.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.remove_secret(tenant_id int, user_id int, of_name text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.secret s WHERE s.user_id = remove_secret.user_id AND s.name = of_name;
    RETURN FOUND;
END $$;
