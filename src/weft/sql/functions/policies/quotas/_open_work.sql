-- _open_work: the batches of a tenant that count in quotas, and how many jobs of theirs have not ended; exact
--   in this statement's snapshot.
-- A batch counts while it has such jobs. One that was made without jobs counts until it gets some, as long as
--   it can.
-- Plan: sums of the tenant's open batches by index, and the deltas that are not folded; its empty batches,
--   which are few; batches by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._open_work(of_tenant_id int)
RETURNS TABLE (batch_id bigint, user_id int, n_jobs bigint) LANGUAGE sql STABLE AS $$
    SELECT x.batch_id, b.user_id, x.n
    FROM (
        SELECT s.batch_id, sum(s.n)::bigint AS n
        FROM (
            SELECT
                c.batch_id,
                c.n_pending + c.n_ready + c.n_queued + c.n_creating + c.n_running + c.n_blocked AS n
            FROM weft.group_count c
            WHERE c.tenant_id = of_tenant_id AND c.group_id = 0 AND NOT c.complete
            UNION ALL
            SELECT d.batch_id, d.n_pending + d.n_ready + d.n_queued + d.n_creating + d.n_running + d.n_blocked
            FROM weft._unfolded() d
            WHERE d.tenant_id = of_tenant_id
        ) s
        GROUP BY s.batch_id
        HAVING sum(s.n) > 0
    ) x
    CROSS JOIN LATERAL (SELECT y.user_id FROM weft.batch y WHERE y.batch_id = x.batch_id OFFSET 0) b
    UNION ALL
    SELECT e.batch_id, b.user_id, 0
    FROM weft.empty_batch e
    CROSS JOIN LATERAL (
        SELECT y.user_id FROM weft.batch y WHERE y.batch_id = e.batch_id AND y.deleted_at IS NULL OFFSET 0
    ) b
    WHERE e.tenant_id = of_tenant_id
        AND NOT EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = e.batch_id AND c.group_id = 0)
$$;
