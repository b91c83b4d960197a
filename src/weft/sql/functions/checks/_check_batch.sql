-- _check_batch: raise WF101 unless the batch exists for the tenant and the user of this transaction, and was not deleted; and WF130 if they
--   see it, but may not do what the transaction is for (weft.needs, a PERMISSION).
-- Called by: functions of the api.   Safe to repeat: yes, it only reads.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_batch(of_batch_id bigint) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
    v_permission int; v_needs int;
BEGIN
    SELECT weft._permission(b.batch_id, b.user_id, b.project_id) INTO v_permission
    FROM weft.batch b WHERE b.batch_id = of_batch_id AND b.deleted_at IS NULL;
    IF v_permission = PERMISSION_ALL THEN
        RETURN;
    ELSIF coalesce(v_permission, 0) = 0 THEN
        PERFORM weft._fail('WF101', format('batch b%s does not exist', of_batch_id),
                           'No batch with this number is visible to you.', 'List your batches with `weft ls`.');
    END IF;
    v_needs := coalesce(nullif(current_setting('weft.needs', true), ''), '1')::int;
    IF v_permission < v_needs THEN
        PERFORM weft._fail('WF130', format('you may not do this to batch b%s', of_batch_id),
            format('Your permission is "%s"; this needs "%s".', weft._permission_word(v_permission), weft._permission_word(v_needs)),
            'Ask its owner for it, or a member of its billing project.');
    END IF;
END $$;
