-- list_groups: documents of a batch's committed groups, with numbers above `after`, in order.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_groups(tenant_id int, batch_id bigint, after int, limit_rows int)
RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_ONCE SET enable_seqscan = off SET enable_mergejoin = off AS $$
DECLARE
    v_ids int[];
BEGIN
    PERFORM weft._check_batch(list_groups.batch_id);
    SELECT array_agg(x.group_id)
    INTO v_ids
    FROM (
        SELECT g.group_id
        FROM weft.job_group g
        LEFT JOIN weft.batch_update u ON u.batch_id = g.batch_id AND u.update_id = g.update_id
        WHERE g.batch_id = list_groups.batch_id
            AND g.group_id > list_groups.after
            AND NOT g.hidden
            AND (g.update_id IS NULL OR u.committed_at IS NOT NULL)
        ORDER BY g.group_id
        LIMIT limit_rows
    ) x;
    RETURN QUERY
    SELECT d.document
    FROM weft._group_documents(
        array_fill(list_groups.batch_id, ARRAY[coalesce(cardinality(v_ids), 0)]), v_ids
    ) d
    ORDER BY d.group_id;
END $$;
