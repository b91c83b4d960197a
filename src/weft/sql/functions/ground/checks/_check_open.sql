-- _check_open: raise WF204 if a group or one above it was cancelled, so that nothing may be added to it.
-- Safe to repeat: yes, it only reads.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_open(of_batch_id bigint, of_group_id int) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_path text;
BEGIN
    SELECT coalesce(g.path, g.name)
    INTO v_path
    FROM weft.group_ancestor a
    JOIN weft.group_cancel c ON c.batch_id = a.batch_id AND c.group_id = a.ancestor_id
    JOIN weft.job_group g ON g.batch_id = c.batch_id AND g.group_id = c.group_id
    WHERE a.batch_id = of_batch_id AND a.group_id = of_group_id
    LIMIT 1;
    IF v_path IS NOT NULL THEN
        PERFORM weft._fail(
            'WF204',
            CASE v_path
                WHEN '/' THEN format('batch b%s was cancelled', of_batch_id)
                ELSE format('group %s of batch b%s was cancelled', v_path, of_batch_id)
            END,
            'A cancelled batch or group takes no new jobs or groups.',
            'Submit the jobs to a new batch.'
        );
    END IF;
END $$;
