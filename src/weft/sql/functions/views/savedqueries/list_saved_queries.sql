-- list_saved_queries: the saved queries of a user by name; or one of them.
-- Safe to repeat: yes, it only reads.
-- Plan: queries of the user by key.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_saved_queries(tenant_id int, user_id int, of_name text)
RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT jsonb_build_object('name', s.name, 'query', s.query, 'updated_at', s.updated_at)
    FROM weft.saved_query s
    WHERE s.user_id = list_saved_queries.user_id AND (of_name IS NULL OR s.name = of_name)
    ORDER BY s.name;
END $$;
