-- list_operations: documents of operations with numbers below `before`, newest first; of one batch, if given.
-- Called by: Store.list_operations (api).   Safe to repeat: yes, it only reads.   Plan: by tenant or batch and number.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_operations(tenant_id int, before bigint, limit_rows int, of_batch_id bigint) RETURNS SETOF jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM weft._as_tenant(list_operations.tenant_id);
    RETURN QUERY SELECT weft._operation_document(o) FROM weft.operation o
    WHERE o.tenant_id = list_operations.tenant_id AND o.operation_id < coalesce(before, 9223372036854775807)
      AND (of_batch_id IS NULL OR o.batch_id = of_batch_id)
      AND weft._sees_operation(o)
    ORDER BY o.operation_id DESC LIMIT limit_rows;
END $$;
