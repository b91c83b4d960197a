-- find_store: a store of files of a tenant with the secret that it names, to try it.
-- Safe to repeat: yes, it only reads.
-- Plan: the store and the secret by key.
-- Returns: no row if there is none; `body`: of the secret, encrypted.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.find_store(tenant_id int, of_name text) RETURNS TABLE (
    url text,
    endpoint text,
    region text,
    access text,
    credentials text,
    secret_name text,
    of_tenant int,
    user_id int,
    body bytea
) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT f.url, f.endpoint, f.region, f.access, f.credentials, f.secret_name, f.tenant_id, f.set_by, s.body
    FROM weft.file_store f
    LEFT JOIN weft.secret s ON s.user_id = f.set_by AND s.name = f.secret_name
    WHERE f.tenant_id = find_store.tenant_id AND f.name = of_name;
END $$;
