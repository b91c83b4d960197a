-- list_schedules: a page of the schedules of a tenant that the caller sees, in the order of their numbers.
-- Safe to repeat: yes, it only reads.
-- Plan: by (tenant, number): comparing rows leaves no other index to choose; as _visible_schedules.
-- Returns: documents.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_schedules(tenant_id int, after bigint, limit_rows int)
RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_IN_ORDER PLAN_ONCE AS $$
BEGIN
    IF weft._caller_id() IS NOT NULL THEN
        RETURN QUERY
        SELECT weft._schedule_document(s)
        FROM weft._visible_schedules(weft._caller_id(), after, limit_rows) s
        ORDER BY s.schedule_id;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT weft._schedule_document(s)
    FROM weft.schedule s
    WHERE (s.tenant_id, s.schedule_id) > (list_schedules.tenant_id, list_schedules.after)
        AND s.tenant_id <= list_schedules.tenant_id
    ORDER BY s.tenant_id, s.schedule_id
    LIMIT limit_rows;
END $$;
