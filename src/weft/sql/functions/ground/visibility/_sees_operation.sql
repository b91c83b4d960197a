-- _sees_operation: whether the caller of this transaction sees an operation: one on a batch with that batch,
--   and one that removes it also afterwards; one on batches if they have asked for it, or see the tenant.
-- Plan: as _sees_work_on.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sees_operation(operation weft.operation) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF operation.batch_id IS NULL THEN
        RETURN weft._caller_id() IS NULL OR weft._caller_id() = operation.user_id;
    END IF;
    RETURN weft._sees_work_on(operation.batch_id)
        AND (
            operation.kind = 'delete_batch'
                OR EXISTS (
                    SELECT FROM weft.batch b WHERE b.batch_id = operation.batch_id AND b.deleted_at IS NULL
                )
        );
END $$;
