-- get_update: the numbers that an update reserved, and whether it is committed.
-- Safe to repeat: yes, it only reads.
-- Locks: none.
-- Plan: by key.
-- Raises WF101 (batch), WF104 (update).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_update(tenant_id int, batch_id bigint, of_update_id int)
RETURNS TABLE (update_id int, first_job int, first_group int, n_jobs int, n_groups int, committed boolean)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_batch(get_update.batch_id);
    RETURN QUERY
    SELECT u.update_id, u.first_job, u.first_group, u.n_jobs, u.n_groups, u.committed_at IS NOT NULL
    FROM weft.batch_update u
    WHERE u.batch_id = get_update.batch_id AND u.update_id = of_update_id;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF104',
            format('update %s of batch b%s does not exist', of_update_id, get_update.batch_id),
            'The batch has no update of this number.',
            'Create an update of the batch first.'
        );
    END IF;
END $$;
