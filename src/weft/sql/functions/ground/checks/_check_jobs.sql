-- _check_jobs: raise WF101 unless the batch exists for the tenant and the user of this transaction, or all of
--   these jobs were granted to them; and WF130 if they see them, but may not do what the transaction is for
--   (weft.needs, a PERMISSION).
-- Safe to repeat: yes, it only reads.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_jobs(of_batch_id bigint, of_job_ids int[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_permission int;
BEGIN
    SELECT weft._permission_on_jobs(b.batch_id, b.user_id, b.project_id, of_job_ids)
    INTO v_permission
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id AND b.deleted_at IS NULL;
    IF v_permission IS DISTINCT FROM PERMISSION_ALL THEN
        PERFORM weft._check_permission(
            of_batch_id,
            v_permission,
            CASE cardinality(of_job_ids)
                WHEN 1 THEN format('job b%s.j%s', of_batch_id, of_job_ids[1])
                ELSE format('these jobs of batch b%s', of_batch_id)
            END
        );
    END IF;
END $$;
