-- list_sources: a page of the sources of a tenant that the caller sees, in the order of their names.
-- Safe to repeat: yes, it only reads.
-- Plan: the sources of a tenant, which are few.
-- Returns: documents.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_sources(tenant_id int, after text, limit_rows int) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT weft._source_document(s)
    FROM weft.source s
    WHERE s.tenant_id = list_sources.tenant_id
        AND s.name > list_sources.after
        AND s.ended_at IS NULL
        AND weft._sees_maker(s)
    ORDER BY s.name
    LIMIT limit_rows;
END $$;
