-- list_parent_groups: which of these groups of a batch have groups below them.
-- Safe to repeat: yes, it only reads.
-- Raises WF101.
-- Plan: for each group the first one below it by key, up to the first that is committed.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_parent_groups(tenant_id int, batch_id bigint, group_ids int[])
RETURNS SETOF int LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
BEGIN
    PERFORM weft._check_batch(list_parent_groups.batch_id);
    RETURN QUERY
    SELECT t
    FROM unnest(list_parent_groups.group_ids) t
    WHERE (  -- no EXISTS: as a join it could read all groups below
        SELECT true
        FROM weft.group_ancestor a
        CROSS JOIN LATERAL (
            SELECT y.*
            FROM weft.job_group y
            WHERE y.batch_id = a.batch_id AND y.group_id = a.group_id
            OFFSET 0
        ) g
        LEFT JOIN weft.batch_update u ON u.batch_id = g.batch_id AND u.update_id = g.update_id
        WHERE a.batch_id = list_parent_groups.batch_id
            AND a.ancestor_id = t
            AND a.group_id > t
            AND NOT g.is_set
            AND NOT g.hidden
            AND (g.update_id IS NULL OR u.committed_at IS NOT NULL)
        LIMIT 1
    )
    ORDER BY t;
END $$;
