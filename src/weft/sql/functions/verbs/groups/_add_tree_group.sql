-- _add_tree_group: the rows of a new tree group below an existing parent.
-- Safe to repeat: yes.
-- Locks: group (the parent, its key shared). Its path cannot change meanwhile.
-- Plan: by key.
-- Raises WF103 (parent group), WF209 (path taken), WF211 (too deep).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_tree_group(
    of_tenant_id int,
    of_batch_id bigint,
    of_update_id int,
    of_group_id int,
    of_parent_id int,
    new_name text,
    new_attributes jsonb,
    cancel_after int,
    new_callback text,
    depth_max int,
    at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_parent record;
    v_path text;
    v_number int;
BEGIN
    SELECT g.*
    INTO v_parent
    FROM weft.job_group g
    WHERE g.batch_id = of_batch_id
        AND g.group_id = of_parent_id
        AND NOT g.is_set
        AND NOT EXISTS (
            SELECT
            FROM weft.batch_update u
            WHERE u.batch_id = g.batch_id
                AND u.update_id = g.update_id
                AND u.update_id <> of_update_id
                AND u.committed_at IS NULL
        )
    FOR KEY SHARE;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF103',
            format('group %s of batch b%s does not exist', of_parent_id, of_batch_id),
            'The parent of a group must exist.',
            'Add the parent first, or name 0, the root.'
        );
    END IF;
    IF v_parent.depth >= depth_max THEN
        PERFORM weft._fail(
            'WF211',
            'the tree of groups is too deep',
            format(
                'Group %s would be at depth %s, the limit is %s.', new_name, v_parent.depth + 1, depth_max
            ),
            'Use fewer levels.'
        );
    END IF;
    v_path := CASE v_parent.path WHEN '/' THEN '' ELSE v_parent.path END || '/' || new_name;
    INSERT INTO weft.job_group (
        batch_id, group_id, tenant_id, parent_id, update_id, name, path, depth, attributes, callback,
        cancel_after_n_failures, created_at
    )
    VALUES (
        of_batch_id, of_group_id, of_tenant_id, of_parent_id, of_update_id, new_name, v_path,
        v_parent.depth + 1, coalesce(new_attributes, '{}'), new_callback, cancel_after, _add_tree_group.at
    )
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_number = ROW_COUNT;
    IF v_number = 0 THEN
        -- The same request at the same time: it is there now.
        IF EXISTS (
            SELECT
            FROM weft.job_group g
            WHERE g.batch_id = of_batch_id AND g.group_id = of_group_id AND g.path = v_path
        ) THEN
            RETURN;
        END IF;
        PERFORM weft._fail(
            'WF209',
            format('group %s of batch b%s already exists', v_path, of_batch_id),
            'Names are unique within a group.',
            'Choose another name, or put the jobs into the existing group.'
        );
    END IF;
    INSERT INTO weft.group_ancestor (batch_id, group_id, ancestor_id, tenant_id)
    SELECT of_batch_id, of_group_id, a.ancestor_id, of_tenant_id
    FROM weft.group_ancestor a
    WHERE a.batch_id = of_batch_id AND a.group_id = of_parent_id
    UNION ALL
    SELECT of_batch_id, of_group_id, of_group_id, of_tenant_id;
    IF cancel_after IS NOT NULL THEN
        INSERT INTO weft.failure_count (batch_id, group_id, tenant_id, n_failures_max)
        VALUES (of_batch_id, of_group_id, of_tenant_id, cancel_after);
    END IF;
END $$;
