-- list_tenants: a page of all tenants, in the order of their numbers, with how many users each has.
-- Plan: tenants by key; as _tenant_document.
-- Returns: documents.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_tenants(after int, limit_rows int) RETURNS SETOF jsonb
LANGUAGE sql STABLE AS $$
    SELECT weft._tenant_document(t)
    FROM weft.tenant t
    WHERE t.tenant_id > list_tenants.after
    ORDER BY t.tenant_id
    LIMIT limit_rows
$$;
