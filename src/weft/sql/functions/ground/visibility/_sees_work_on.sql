-- _sees_work_on: whether the caller of this transaction sees operations on a batch, also while it is deleted;
--   when its rows are gone, who asked for one and who sees the tenant do.
-- Plan: by key; operations by batch.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sees_work_on(of_batch_id bigint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN weft._sees_batch(of_batch_id)
        OR NOT EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = of_batch_id)
            AND EXISTS (
                SELECT FROM weft.operation o WHERE o.batch_id = of_batch_id AND o.user_id = weft._caller_id()
            );
END $$;
