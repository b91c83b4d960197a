-- remove_dead_message: forget a dead message.
-- Called by: Store.remove_dead_message (api).   Safe to repeat: yes.
-- Locks: dead_message.   Plan: by key.   Returns: whether there was one.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.remove_dead_message(tenant_id int, of_dead_id bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM weft._as_tenant(remove_dead_message.tenant_id);
    DELETE FROM weft.dead_message d WHERE d.tenant_id = remove_dead_message.tenant_id AND d.dead_id = of_dead_id;
    RETURN FOUND;
END $$;
