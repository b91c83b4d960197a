-- list_sets: documents of a batch's sets in order of their names, those after one.
-- Safe to repeat: yes, it only reads.
-- Plan: sets by batch and name.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_sets(tenant_id int, batch_id bigint, after text, limit_rows int)
RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_ONCE SET enable_seqscan = off SET enable_mergejoin = off AS $$
DECLARE
    v_ids int[];
BEGIN
    PERFORM weft._check_batch(list_sets.batch_id);
    SELECT array_agg(x.group_id ORDER BY x.name)
    INTO v_ids
    FROM (
        SELECT g.group_id, g.name
        FROM weft.job_group g
        LEFT JOIN weft.batch_update u ON u.batch_id = g.batch_id AND u.update_id = g.update_id
        WHERE g.batch_id = list_sets.batch_id
            AND g.is_set
            AND g.name > list_sets.after
            AND NOT g.hidden
            AND (g.update_id IS NULL OR u.committed_at IS NOT NULL)
        ORDER BY g.name
        LIMIT limit_rows
    ) x;
    RETURN QUERY
    SELECT d.document
    FROM weft._group_documents(array_fill(list_sets.batch_id, ARRAY[coalesce(cardinality(v_ids), 0)]), v_ids)
        d
    ORDER BY array_position(v_ids, d.group_id);
END $$;
