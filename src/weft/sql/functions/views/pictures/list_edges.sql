-- list_edges: the dependencies between these jobs of a batch, by child and parent, as many as limit_rows
--   dependencies of theirs tell.
-- Safe to repeat: yes, it only reads.
-- Raises WF101.
-- Plan: the edges of each child by key, from its lowest parent among these jobs to its highest, until
--   limit_rows have been read.
-- Returns: pairs, and in each row whether some were left out; no pair is one row of NULLs.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_edges(tenant_id int, batch_id bigint, job_ids int[], limit_rows int)
RETURNS TABLE (parent_id int, child_id int, cut boolean) LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
BEGIN
    PERFORM weft._check_batch(list_edges.batch_id);
    RETURN QUERY
    WITH span AS (SELECT min(t) AS low, max(t) AS high FROM unnest(list_edges.job_ids) t),
    page AS MATERIALIZED (
        SELECT e.parent_id, e.child_id
        FROM span, unnest(list_edges.job_ids) t
        CROSS JOIN LATERAL (
            SELECT x.parent_id, x.child_id
            FROM weft.edge x
            WHERE x.batch_id = list_edges.batch_id
                AND x.child_id = t
                AND x.parent_id BETWEEN span.low AND span.high
            ORDER BY x.parent_id
            OFFSET 0
        ) e
        LIMIT limit_rows + 1
    )
    SELECT p.parent_id, p.child_id, n.cut
    FROM (SELECT count(*) > limit_rows AS cut FROM page) n
    LEFT JOIN page p ON p.parent_id = ANY (list_edges.job_ids);
END $$;
