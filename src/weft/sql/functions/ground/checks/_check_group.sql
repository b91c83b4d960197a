-- _check_group: raise WF101 or WF103 unless the group exists and its update is committed.
-- Safe to repeat: yes, it only reads.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_group(of_batch_id bigint, of_group_id int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_batch(of_batch_id);
    IF NOT EXISTS (
        SELECT
        FROM weft.job_group g
        LEFT JOIN weft.batch_update u ON u.batch_id = g.batch_id AND u.update_id = g.update_id
        WHERE g.batch_id = of_batch_id
            AND g.group_id = of_group_id
            AND NOT g.hidden
            AND (g.update_id IS NULL OR u.committed_at IS NOT NULL)
    ) THEN
        PERFORM weft._fail(
            'WF103',
            format('group %s of batch b%s does not exist', of_group_id, of_batch_id),
            'The batch has no group of this number.',
            format('List its groups with `weft groups b%s`.', of_batch_id)
        );
    END IF;
END $$;
