-- get_operation: the document of an operation.
-- Called by: Store.get_operation (api).   Safe to repeat: yes, it only reads.   Plan: by key.   Raises WF106.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_operation(tenant_id int, of_operation_id bigint) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_operation weft.operation;
BEGIN
    PERFORM weft._as_tenant(get_operation.tenant_id);
    SELECT o.* INTO v_operation FROM weft.operation o WHERE o.operation_id = of_operation_id
      AND weft._sees_work_on(o.batch_id)
      AND (o.kind = 'delete_batch' OR EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = o.batch_id AND b.deleted_at IS NULL));
    IF NOT FOUND THEN
        PERFORM weft._fail('WF106', format('operation %s does not exist', of_operation_id),
                           'No operation with this number is visible to you.',
                           'Name an operation by the number that its request was answered with.');
    END IF;
    RETURN weft._operation_document(v_operation);
END $$;
