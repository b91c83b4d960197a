-- list_stores: the stores of files of a tenant by name; or one of them.
-- Safe to repeat: yes, it only reads.
-- Plan: stores of the tenant by key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_stores(tenant_id int, of_name text) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT weft._store_document(f)
    FROM weft.file_store f
    WHERE f.tenant_id = list_stores.tenant_id AND (of_name IS NULL OR f.name = of_name)
    ORDER BY f.name;
END $$;
