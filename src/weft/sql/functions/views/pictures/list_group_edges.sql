-- list_group_edges: how many dependencies lead from one group directly below a group to another; jobs that
--   are in none of them stand for the group itself. All of them if there are at most limit_rows between the
--   numbers of its jobs, else a sample spread over these numbers.
-- Safe to repeat: yes, it only reads.
-- Raises WF101, WF103.
-- Plan: limit_rows edges by child, or that many in four per stretch of numbers; their jobs by key; ancestors
--   of each group once. The numbers of a group are looked up in the first and last bunch of at most 1000
--   groups below it.
-- Returns: pairs of groups, and in each row whether they were sampled; no pair is one row of NULLs.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_group_edges(
    tenant_id int, batch_id bigint, of_group_id int, limit_rows int
) RETURNS TABLE (from_id int, to_id int, n_edges bigint, sampled boolean)
LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_low int;
    v_high int;
    v_parents int[];
    v_children int[];
    v_sampled boolean;
    v_each constant int := 4;
BEGIN
    PERFORM weft._check_group(list_group_edges.batch_id, of_group_id);
    SELECT s.low, s.high INTO v_low, v_high FROM weft._job_span(list_group_edges.batch_id, of_group_id) s;
    SELECT array_agg(e.parent_id), array_agg(e.child_id)
    INTO v_parents, v_children
    FROM (
        SELECT x.parent_id, x.child_id
        FROM weft.edge x
        WHERE x.batch_id = list_group_edges.batch_id AND x.child_id BETWEEN v_low AND v_high
        ORDER BY x.child_id, x.parent_id
        LIMIT limit_rows + 1
    ) e;
    v_sampled := coalesce(cardinality(v_parents), 0) > limit_rows;
    IF v_sampled THEN
        SELECT array_agg(e.parent_id), array_agg(e.child_id)
        INTO v_parents, v_children
        FROM (SELECT greatest(limit_rows / v_each, 1) AS n, v_high - v_low + 1 AS width) s
        CROSS JOIN LATERAL (
            SELECT
                v_low + (i::bigint * s.width / s.n)::int AS low,
                v_low + ((i + 1)::bigint * s.width / s.n)::int AS next
            FROM generate_series(0, s.n - 1) i
        ) p
        CROSS JOIN LATERAL (
            SELECT x.parent_id, x.child_id
            FROM weft.edge x
            WHERE x.batch_id = list_group_edges.batch_id AND x.child_id >= p.low AND x.child_id < p.next
            ORDER BY x.child_id, x.parent_id
            LIMIT v_each
        ) e;
    END IF;
    RETURN QUERY
    WITH pair AS MATERIALIZED (
        SELECT p.group_id AS from_group, c.group_id AS to_group, count(*) AS n
        FROM unnest(v_parents, v_children) t (parent, child)
        CROSS JOIN LATERAL (
            SELECT x.group_id
            FROM weft.job x
            WHERE x.batch_id = list_group_edges.batch_id AND x.job_id = t.parent
            OFFSET 0
        ) p
        CROSS JOIN LATERAL (
            SELECT x.group_id
            FROM weft.job x
            WHERE x.batch_id = list_group_edges.batch_id
                AND x.job_id = t.child
                AND (
                    SELECT u.committed_at IS NOT NULL
                    FROM weft.batch_update u
                    WHERE u.batch_id = x.batch_id AND u.update_id = x.update_id
                )
            OFFSET 0
        ) c
        GROUP BY 1, 2
    ),
    node AS MATERIALIZED (
        SELECT
            d.group_id,
            -- the group itself, or one directly below it, whose number is larger
            max(a.ancestor_id) AS node_id
        FROM (SELECT from_group AS group_id FROM pair UNION SELECT to_group FROM pair) d
        JOIN weft.group_ancestor a ON a.batch_id = list_group_edges.batch_id AND a.group_id = d.group_id
        JOIN weft.job_group g ON g.batch_id = a.batch_id AND g.group_id = a.ancestor_id AND NOT g.is_set
        WHERE g.group_id = of_group_id OR g.parent_id = of_group_id
        GROUP BY 1
    ),
    found AS (
        SELECT f.node_id AS from_node, t.node_id AS to_node, sum(p.n)::bigint AS n
        FROM pair p
        JOIN node f ON f.group_id = p.from_group
        JOIN node t ON t.group_id = p.to_group
        GROUP BY 1, 2
    )
    SELECT f.from_node, f.to_node, f.n, v_sampled
    FROM (SELECT) one
    LEFT JOIN found f ON true
    ORDER BY 1, 2;
END $$;
