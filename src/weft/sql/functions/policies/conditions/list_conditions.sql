-- list_conditions: what blocked jobs of a tenant that the caller sees wait for together, oldest first, from a
--   number on.
-- Safe to repeat: yes, it only reads.
-- Plan: conditions by key, a page; jobs are counted already, whatever their number. For who does not see the
--   tenant as _shown_conditions, and as _condition_document.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_conditions(tenant_id int, after_id bigint, limit_rows int)
RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_IN_ORDER AS $$
BEGIN
    IF weft._caller_id() IS NOT NULL THEN
        RETURN QUERY
        SELECT weft._condition_document(c)
        FROM weft._shown_conditions(after_id, limit_rows) s
        CROSS JOIN LATERAL (SELECT x.* FROM weft.condition x WHERE x.condition_id = s OFFSET 0) c
        ORDER BY s;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT weft._condition_document(c)
    FROM (
        SELECT x.*
        FROM weft.condition x
        WHERE x.tenant_id = list_conditions.tenant_id AND x.condition_id > after_id
        ORDER BY x.condition_id
        LIMIT limit_rows
    ) c
    ORDER BY c.condition_id;
END $$;
