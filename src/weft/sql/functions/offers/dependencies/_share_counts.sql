-- _share_counts: the shares of the parents of these jobs, counted from their states. but: parents that run
--   again, and so have not failed.
-- Plan: edges by child, jobs and cascade by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._share_counts(of_batch_id bigint, of_job_ids int[], but int[] DEFAULT '{}')
RETURNS SETOF weft.parent_share LANGUAGE sql STABLE AS $$
    SELECT
        of_batch_id, e.child_id, e.need, e.tenant_id, count(*)::int,
        ceil(count(*) * -e.need / 100.0)::int,
        count(*) FILTER (WHERE p.state = STATE_SUCCESS AND p.told)::int,
        count(*) FILTER (WHERE p.state > STATE_SUCCESS AND p.told AND e.parent_id <> ALL (but))::int,
        min(e.parent_id),
        max(e.parent_id)
    FROM unnest(of_job_ids) x
    CROSS JOIN LATERAL (
        SELECT y.* FROM weft.edge y WHERE y.batch_id = of_batch_id AND y.child_id = x AND y.need < 0 OFFSET 0
    ) e
    -- Parents of the same update may come later than their children.
    LEFT JOIN LATERAL (
        SELECT
            j.state,
            NOT EXISTS (
                SELECT
                FROM weft.cascade c
                WHERE c.batch_id = of_batch_id AND c.job_id = e.parent_id AND c.next_child < e.child_id
            ) AS told
        FROM weft.job j
        WHERE j.batch_id = of_batch_id AND j.job_id = e.parent_id
        OFFSET 0
    ) p ON true
    GROUP BY e.child_id, e.need, e.tenant_id
$$;
