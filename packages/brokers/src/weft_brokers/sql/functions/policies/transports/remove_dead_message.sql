-- remove_dead_message: forget a dead message.
-- Safe to repeat: yes.
-- Locks: dead_message.
-- Plan: by key.
-- Returns: whether there was one.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.remove_dead_message(tenant_id int, of_dead_id bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.dead_message d
    WHERE d.tenant_id = remove_dead_message.tenant_id AND d.dead_id = of_dead_id;
    RETURN FOUND;
END $$;
