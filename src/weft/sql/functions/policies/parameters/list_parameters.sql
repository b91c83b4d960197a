-- list_parameters: a page of the parameters of a tenant in the order of their names, each with the version
--   that counted then.
-- Safe to repeat: yes, it only reads.
-- Plan: the versions of a tenant, which are few.
-- names: only these; NULL: all.
-- as_of: NULL: now.
-- Returns: documents.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_parameters(
    tenant_id int, names text[], as_of timestamptz, after text, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT weft._parameter_document(x)
    FROM (
        SELECT DISTINCT ON (p.name) p.*
        FROM weft.parameter_version p
        WHERE p.tenant_id = list_parameters.tenant_id
            AND p.name > list_parameters.after
            AND (names IS NULL OR p.name = ANY (names))
            AND (as_of IS NULL OR p.set_at <= as_of)
        ORDER BY p.name, p.version DESC
        LIMIT limit_rows
    ) x;
END $$;
