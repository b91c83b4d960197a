-- list_consumed: the queues that a worker consumes from transports: those of its pool that it serves and that
--   travel over one of these.
-- Plan: queues of tenants, which are few.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_consumed(incarnation_id int, transports text[])
RETURNS TABLE (transport text, tenant text, queue text) LANGUAGE sql STABLE AS $$
    SELECT q.transport, t.name, q.name
    FROM weft.worker_incarnation i
    JOIN weft.pool p
    USING (pool_id)
    JOIN weft.queue q ON p.name = ANY (q.pools)
    JOIN weft.tenant t
    USING (tenant_id)
    WHERE i.incarnation_id = list_consumed.incarnation_id
        AND q.transport = ANY (list_consumed.transports)
        AND q.consumers = 'weft'
        AND (NOT i.offers ? 'queue' OR i.offers -> 'queue' @> to_jsonb(q.name))
    ORDER BY 1, 2, 3
$$;
