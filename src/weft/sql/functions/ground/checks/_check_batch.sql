-- _check_batch: raise WF101 unless the batch exists for the tenant and the user of this transaction, and was
--   not deleted; and WF130 if they see it, but may not do what the transaction is for (weft.needs, a
--   PERMISSION).
-- Safe to repeat: yes, it only reads.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_batch(of_batch_id bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_permission int;
BEGIN
    SELECT weft._permission(b.batch_id, b.user_id, b.project_id)
    INTO v_permission
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id AND b.deleted_at IS NULL;
    IF v_permission IS DISTINCT FROM PERMISSION_ALL THEN
        PERFORM weft._check_permission(of_batch_id, v_permission, format('batch b%s', of_batch_id));
    END IF;
END $$;
