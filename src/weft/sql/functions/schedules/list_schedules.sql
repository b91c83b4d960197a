-- list_schedules: a page of the schedules of a tenant that the caller sees, in the order of their numbers.
-- Called by: Store.list_schedules (api).   Safe to repeat: yes, it only reads.   Plan: by (tenant, number).
-- Returns: documents.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_schedules(tenant_id int, after bigint, limit_rows int) RETURNS SETOF jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM weft._as_tenant(list_schedules.tenant_id);
    RETURN QUERY
    SELECT weft._schedule_document(s) FROM weft.schedule s
    WHERE s.tenant_id = list_schedules.tenant_id AND s.schedule_id > list_schedules.after AND weft._sees_schedule(s)
    ORDER BY s.schedule_id LIMIT limit_rows;
END $$;
