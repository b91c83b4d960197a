-- remove_saved_query: forget a saved query of a user.
-- Safe to repeat: yes.
-- Locks: saved_query.
-- Plan: by key.
-- Returns: whether there was one.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.remove_saved_query(tenant_id int, user_id int, of_name text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.saved_query s WHERE s.user_id = remove_saved_query.user_id AND s.name = of_name;
    RETURN FOUND;
END $$;
