-- list_operations: documents of operations that the caller sees, with numbers below `before`, newest first;
--   of one batch, if given.
-- Safe to repeat: yes, it only reads.
-- Plan: by tenant or batch and number; as _visible_operations. Of those of a tenant, the ones on batches that
--   are being removed are passed over.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_operations(
    tenant_id int, before bigint, limit_rows int, of_batch_id bigint
) RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_IN_ORDER PLAN_ONCE AS $$
DECLARE
    v_before bigint := coalesce(list_operations.before, 9223372036854775807);
BEGIN
    IF of_batch_id IS NOT NULL THEN
        RETURN QUERY
        SELECT weft._operation_document(o)
        FROM weft.operation o
        WHERE (o.batch_id, o.operation_id) >= (of_batch_id, 0)
            AND (o.batch_id, o.operation_id) < (of_batch_id, v_before)
            AND o.tenant_id = list_operations.tenant_id
            AND weft._sees_operation(o)
        ORDER BY o.batch_id DESC, o.operation_id DESC
        LIMIT limit_rows;
    ELSIF weft._caller_id() IS NOT NULL THEN
        RETURN QUERY
        SELECT weft._operation_document(o)
        FROM weft._visible_operations(weft._caller_id(), v_before, limit_rows) o
        ORDER BY o.operation_id DESC;
    ELSE
        RETURN QUERY
        SELECT weft._operation_document(o)
        FROM weft.operation o
        WHERE (o.tenant_id, o.operation_id) >= (list_operations.tenant_id, 0)
            AND (o.tenant_id, o.operation_id) < (list_operations.tenant_id, v_before)
            AND weft._sees_operation(o)
        ORDER BY o.tenant_id DESC, o.operation_id DESC
        LIMIT limit_rows;
    END IF;
END $$;
