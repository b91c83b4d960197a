-- list_travelling: the queues that travel over these transports.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: queues of tenants, which are few.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.list_travelling(epoch bigint, transports text[])
RETURNS TABLE (transport text, tenant text, queue text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT q.transport, t.name, q.name
    FROM weft.queue q
    JOIN weft.tenant t
    USING (tenant_id)
    WHERE q.transport = ANY (list_travelling.transports)
    ORDER BY 1, 2, 3;
END $$;
