-- _member_groups: the group numbers for the rows of jobs, some of which are in sets: a membership, or the
--   tree group alone.
-- Safe to repeat: yes.
-- Locks: as _membership_ids.
-- Columns: as add_jobs; tree groups are absolute numbers.
-- Returns: one number per job.  Raises WF103 (no such set).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._member_groups(
    tenant_id int,
    of_batch_id bigint,
    n_jobs int,
    first_group int,
    tree_ids int[],
    combo_indexes int[],
    combo_numbers int[],
    combo_sets int[]
) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_wrong int;
    v_tree int[];
    v_combo int[];
    v_from_tree int[];
    v_from_combo int[];
    v_sets text[];
    v_to int[];
BEGIN
    SELECT array_agg(CASE WHEN s > 0 THEN first_group - 1 + s ELSE -s END ORDER BY n)
    INTO combo_sets
    FROM unnest(combo_sets) WITH ORDINALITY t (s, n);
    SELECT d.s
    INTO v_wrong
    FROM (SELECT DISTINCT s FROM unnest(combo_sets) s) d
    WHERE NOT EXISTS (
        SELECT
        FROM weft.job_group g
        WHERE g.batch_id = of_batch_id AND g.group_id = d.s AND g.is_set AND NOT g.hidden
    )
    LIMIT 1;
    IF v_wrong IS NOT NULL THEN
        PERFORM weft._fail(
            'WF103',
            format('set %s of batch b%s does not exist', v_wrong, of_batch_id),
            'A job can only be put into existing sets.',
            'Add the set to the update before its jobs.'
        );
    END IF;
    v_tree := CASE
        WHEN cardinality(tree_ids) = n_jobs THEN tree_ids
        ELSE array_fill(tree_ids[1], ARRAY[n_jobs])
    END;
    v_combo := CASE
        WHEN cardinality(combo_indexes) = n_jobs THEN combo_indexes
        ELSE array_fill(combo_indexes[1], ARRAY[n_jobs])
    END;
    SELECT array_agg(d.g), array_agg(d.c), array_agg(s.sets::text)
    INTO v_from_tree, v_from_combo, v_sets
    FROM (SELECT DISTINCT g, c FROM unnest(v_tree, v_combo) t (g, c) WHERE c > 0) d JOIN (
        SELECT p.c, array_agg(DISTINCT p.s ORDER BY p.s) AS sets
        FROM unnest(combo_numbers, combo_sets) p (c, s)
        GROUP BY p.c
    ) s ON s.c = d.c;
    v_to := weft._membership_ids(_member_groups.tenant_id, of_batch_id, v_from_tree, v_sets);
    RETURN (
        SELECT array_agg(coalesce(m.id, t.g) ORDER BY t.n)
        FROM unnest(v_tree, v_combo) WITH ORDINALITY t (g, c, n)
        LEFT JOIN unnest(v_from_tree, v_from_combo, v_to) m (g, c, id) ON m.g = t.g AND m.c = t.c
    );
END $$;
