-- _running_cores: how many mCPU the jobs of users of a tenant have that run or count as if they did; exact in
--   this statement's snapshot.
-- Plan: what users have in pools, a row for each, and the deltas that are not folded; batches and shapes by
--   key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._running_cores(of_tenant_id int) RETURNS TABLE (user_id int, cpu_m bigint)
LANGUAGE sql STABLE AS $$
    SELECT x.user_id, sum(x.cpu_m)::bigint
    FROM (
        SELECT s.user_id, s.running_m AS cpu_m
        FROM weft.user_share s
        WHERE s.tenant_id = of_tenant_id
        UNION ALL
        SELECT b.user_id, (d.n_running + d.n_creating + d.n_queued) * h.cpu_m
        FROM weft._unfolded() d
        CROSS JOIN LATERAL (SELECT y.user_id FROM weft.batch y WHERE y.batch_id = d.batch_id OFFSET 0) b
        CROSS JOIN LATERAL (SELECT y.cpu_m FROM weft.shape y WHERE y.shape_id = d.shape_id OFFSET 0) h
        WHERE d.tenant_id = of_tenant_id AND d.n_running + d.n_creating + d.n_queued <> 0
    ) x
    GROUP BY 1
$$;
