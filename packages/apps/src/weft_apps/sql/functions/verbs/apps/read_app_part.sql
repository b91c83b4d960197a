-- read_app_part: one part of a packed folder, and the length of the whole, for the api that looks at it.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Returns: no row if there is no such part.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.read_app_part(tenant_id int, of_digest bytea, of_part int)
RETURNS TABLE (n_bytes bigint, body bytea) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT p.n_bytes, p.body
    FROM weft.app_part p
    WHERE p.tenant_id = read_app_part.tenant_id AND p.digest = of_digest AND p.part = of_part;
END $$;
