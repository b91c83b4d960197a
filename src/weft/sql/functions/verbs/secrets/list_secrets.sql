-- list_secrets: the secrets of a user by name, without their values.
-- Safe to repeat: yes, it only reads.
-- Plan: secrets of the user by key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_secrets(tenant_id int, user_id int) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT weft._secret_document(s) FROM weft.secret s WHERE s.user_id = list_secrets.user_id ORDER BY s.name;
END $$;
