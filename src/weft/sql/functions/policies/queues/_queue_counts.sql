-- _queue_counts: how many jobs wait and run in these queues of a tenant; NULL: in all that have or had some.
-- Plan: sums of queues by key; the deltas that are not folded.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._queue_counts(of_tenant_id int, of_queues text[])
RETURNS TABLE (queue text, n_waiting bigint, n_running bigint) LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT x.queue, sum(x.n_waiting)::bigint, sum(x.n_running)::bigint
    FROM (
        SELECT c.queue, c.n_waiting, c.n_running
        FROM weft.queue_count c
        WHERE of_queues IS NULL AND c.tenant_id = of_tenant_id
        UNION ALL
        SELECT c.queue, c.n_waiting, c.n_running
        FROM unnest(of_queues) q
        CROSS JOIN LATERAL (
            SELECT y.* FROM weft.queue_count y WHERE y.tenant_id = of_tenant_id AND y.queue = q OFFSET 0
        ) c
        UNION ALL
        SELECT
            coalesce(s.countables ->> 'queue', 'default'),
            d.n_pending + d.n_ready + d.n_queued + d.n_creating + d.n_blocked,
            d.n_running
        FROM weft._unfolded() d
        JOIN weft.shape s ON s.shape_id = d.shape_id
        WHERE d.tenant_id = of_tenant_id
    ) x
    WHERE of_queues IS NULL OR x.queue = ANY (of_queues)
    GROUP BY 1
$$;
