-- _rename_group: rename a group. The name of a tree group is part of its path and of the paths below.
-- Safe to repeat: yes.
-- Locks: group (and all below it, in key order). add_groups holds the parent's row, shared, so no group is
--   added below with the old path meanwhile.
-- Plan: ancestors by key.
-- Raises WF209 (name taken), WF232 (too many groups below).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._rename_group(
    of_batch_id bigint, of_group_id int, new_name text, groups_max int
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_old text;
    v_path text;
    v_below int[];
    v_n int := 0;
BEGIN
    LOOP
        SELECT array_agg(l.group_id)
        INTO v_below
        FROM (
            SELECT g.group_id
            FROM weft.job_group g
            WHERE g.batch_id = of_batch_id
                AND g.group_id IN (
                    SELECT a.group_id
                    FROM weft.group_ancestor a
                    WHERE a.batch_id = of_batch_id AND a.ancestor_id = of_group_id AND a.group_id >= 0
                    LIMIT groups_max + 1
                )
            ORDER BY g.group_id
            FOR UPDATE
        ) l;
        IF cardinality(v_below) > groups_max THEN
            PERFORM weft._fail(
                'WF232',
                format('group %s of batch b%s has too many groups below', of_group_id, of_batch_id),
                format(
                    'A rename changes the paths of all groups below; the limit is %s (rename_groups_max).',
                    groups_max
                ),
                'Rename the groups below it, or use an attribute instead.'
            );
        END IF;
        EXIT WHEN cardinality(v_below) = v_n;
        v_n := cardinality(v_below);  -- some may have come before they were locked
    END LOOP;
    SELECT g.path
    INTO v_old
    FROM weft.job_group g
    WHERE g.batch_id = of_batch_id AND g.group_id = of_group_id;
    v_path := regexp_replace(v_old, '[^/]*$', '') || new_name;
    BEGIN
        UPDATE weft.job_group g
        SET
            path = v_path || substr(g.path, length(v_old) + 1),
            name = CASE WHEN g.group_id = of_group_id THEN new_name ELSE g.name END
        WHERE g.batch_id = of_batch_id AND g.group_id = ANY (v_below);
    EXCEPTION
        WHEN unique_violation THEN
            PERFORM weft._fail(
                'WF209',
                format('group %s of batch b%s already exists', coalesce(v_path, new_name), of_batch_id),
                'Names are unique within a group.',
                'Choose another name.'
            );
    END;
END $$;
