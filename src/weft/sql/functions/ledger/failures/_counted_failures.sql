-- _counted_failures: how many of these failed jobs of a batch count in each of their groups with
--   cancel_after_n_failures: those that failed after its cancel was last lifted.
-- For: _retry, before it forgets the failures; _add_members.
-- Plan: jobs, ancestors, counters and letters by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._counted_failures(of_batch_id bigint, of_job_ids int[])
RETURNS TABLE (group_id int, n int) LANGUAGE sql STABLE AS $$
    SELECT f.group_id, count(*)::int
    FROM unnest(of_job_ids) x
    CROSS JOIN LATERAL (
        SELECT y.batch_id, y.group_id FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = x OFFSET 0
    ) j
    JOIN weft.group_ancestor a ON a.batch_id = j.batch_id AND a.group_id = j.group_id
    JOIN weft.failure_count f ON f.batch_id = a.batch_id AND f.group_id = a.ancestor_id
    WHERE f.lifted_at IS NULL
        OR (SELECT d.failed_at FROM weft.dead_letter d WHERE d.batch_id = of_batch_id AND d.job_id = x) >
            f.lifted_at
    GROUP BY 1
$$;
