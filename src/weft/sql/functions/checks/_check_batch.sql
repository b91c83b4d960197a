-- _check_batch: raise WF101 unless the batch exists for the tenant of this transaction, and was not deleted.
-- Called by: functions of the api.   Safe to repeat: yes, it only reads.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_batch(of_batch_id bigint) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = of_batch_id AND b.deleted_at IS NULL) THEN
        PERFORM weft._fail('WF101', format('batch b%s does not exist', of_batch_id),
                           'No batch with this number is visible to you.', 'List your batches with `weft ls`.');
    END IF;
END $$;
