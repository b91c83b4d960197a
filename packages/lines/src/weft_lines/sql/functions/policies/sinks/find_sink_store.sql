-- find_sink_store: a store of files of a tenant with the secret that it names, for messages of a sink.
-- Plan: the store and the secret by key.
-- Returns: as find_store.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.find_sink_store(of_tenant_id int, of_name text) RETURNS TABLE (
    url text,
    endpoint text,
    region text,
    access text,
    credentials text,
    secret_name text,
    tenant_id int,
    user_id int,
    body bytea
) LANGUAGE sql STABLE AS $$
    SELECT f.url, f.endpoint, f.region, f.access, f.credentials, f.secret_name, f.tenant_id, f.set_by, s.body
    FROM weft.file_store f
    LEFT JOIN weft.secret s ON s.user_id = f.set_by AND s.name = f.secret_name
    WHERE f.tenant_id = find_sink_store.of_tenant_id AND f.name = find_sink_store.of_name
$$;
