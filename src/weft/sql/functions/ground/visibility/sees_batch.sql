-- sees_batch: whether the caller of this transaction sees a whole batch; false: single jobs of it alone.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101 if they see neither.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.sees_batch(tenant_id int, batch_id bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM weft.batch b
        WHERE b.batch_id = sees_batch.batch_id
            AND b.deleted_at IS NULL
            AND weft._permission(b.batch_id, b.user_id, b.project_id) = 0
    )
        AND EXISTS (
            SELECT
            FROM weft.batch_grant g
            WHERE g.user_id = weft._caller_id() AND g.batch_id = sees_batch.batch_id AND g.job_id > 0
        )
    THEN
        RETURN false;
    END IF;
    PERFORM weft._check_batch(sees_batch.batch_id);
    RETURN true;
END $$;
