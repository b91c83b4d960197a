-- remove_store: forget a store of files. What is in it stays; jobs that name it and start later fail.
-- Safe to repeat: yes.
-- Locks: file_store.
-- Plan: by key.
-- Returns: whether there was one.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.remove_store(tenant_id int, of_name text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.file_store f WHERE f.tenant_id = remove_store.tenant_id AND f.name = of_name;
    RETURN FOUND;
END $$;
