-- _check_permission: raise WF101 if the caller of this transaction has no permission on a batch, or its jobs;
--   and WF130 if that is not enough for what the transaction is for (weft.needs).
-- Safe to repeat: yes, it only reads.
-- permission: a PERMISSION; NULL or 0: none.
-- what: the batch or its jobs, as the error names them.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_permission(of_batch_id bigint, permission int, what text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_needs int;
BEGIN
    IF coalesce(permission, 0) = 0 THEN
        PERFORM weft._fail(
            'WF101',
            format('batch b%s does not exist', of_batch_id),
            'No batch with this number is visible to you.',
            'List your batches with `weft ls`.'
        );
    END IF;
    v_needs := weft._needed_permission();
    IF permission < v_needs THEN
        PERFORM weft._fail(
            'WF130',
            format('you may not do this to %s', what),
            format(
                'Your permission is "%s"; this needs "%s".',
                weft._permission_word(permission),
                weft._permission_word(v_needs)
            ),
            'Ask its owner for it, or a member of its billing project.'
        );
    END IF;
END $$;
