-- list_foreign: the tenants whose queues foreign programs consume over these transports, and the pools with
--   attempts of such programs.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: queues of tenants and live workers, which are few.
-- Returns: transport, tenant and pool of a queue; a pool alone: what foreign programs run there may be of a
--   queue that was removed.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.list_foreign(epoch bigint, transports text[])
RETURNS TABLE (transport text, tenant text, pool_id int) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT q.transport, t.name, p.pool_id
    FROM weft.queue q
    JOIN weft.tenant t
    USING (tenant_id)
    JOIN weft.pool p ON p.name = ANY (q.pools)
    WHERE q.consumers = 'foreign' AND q.transport = ANY (list_foreign.transports)
    UNION
    SELECT NULL, NULL, i.pool_id
    FROM weft.worker_incarnation i
    WHERE i.ended_at IS NULL AND i.offers ? 'foreign'
    ORDER BY 1, 2, 3;
END $$;
