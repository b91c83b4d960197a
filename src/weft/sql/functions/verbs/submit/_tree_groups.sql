-- _tree_groups: the tree groups of jobs as absolute numbers. They and the sets must exist; an uncommitted
--   group exists only for its own update, and may be removed.
-- Safe to repeat: yes, it only reads.
-- Plan: groups by key.
-- Raises WF103.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._tree_groups(of_update weft.batch_update, group_ids int[], combo_sets int[])
RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_groups int[];
    v_wrong int;
BEGIN
    SELECT array_agg(CASE WHEN g > 0 THEN of_update.first_group - 1 + g ELSE -g END ORDER BY n)
    INTO v_groups
    FROM unnest(group_ids) WITH ORDINALITY t (g, n);
    SELECT d.g
    INTO v_wrong
    FROM (
        SELECT g, false AS is_set
        FROM unnest(v_groups) g
        UNION
        SELECT -s, true
        FROM unnest(combo_sets) s
        WHERE s < 0
    ) d
    WHERE NOT EXISTS (
        SELECT
        FROM weft.job_group x
        LEFT JOIN weft.batch_update u ON u.batch_id = x.batch_id AND u.update_id = x.update_id
        WHERE x.batch_id = of_update.batch_id
            AND x.group_id = d.g
            AND x.is_set = d.is_set
            AND (x.update_id IS NULL OR x.update_id = of_update.update_id OR u.committed_at IS NOT NULL)
    )
    LIMIT 1;
    IF v_wrong IS NOT NULL THEN
        PERFORM weft._fail(
            'WF103',
            format('group %s of batch b%s does not exist', v_wrong, of_update.batch_id),
            'The group of a job must exist.',
            'Add the group to the update before its jobs.'
        );
    END IF;
    RETURN v_groups;
END $$;
