-- _batch_pools: the pools in which jobs of a batch may wait: those of all queues of its tenant.
-- Plan: queues of the tenant, which are few, and lanes of queues.
-- For: functions that announce jobs
--   without looking at each.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._batch_pools(of_batch_id bigint) RETURNS int[]
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT array_agg(DISTINCT p.pool_id)
    FROM weft.batch b
    JOIN weft.queue q
    USING (tenant_id)
    JOIN weft.pool p ON p.pool_id = q.pool_id OR p.name = ANY (q.pools)
    WHERE b.batch_id = of_batch_id
$$;
