-- _heads_of_hosts: the first limit_host deliveries that are due of each tenant and host, besides those being
--   sent (`busy`).
-- Plan: from one (tenant, host) to the next by callback_delivery_host_idx, the first few of each.
-- Returns: waits: a message of its order is before it.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._heads_of_hosts(busy bigint[], limit_host int, at timestamptz)
RETURNS TABLE (delivery_id bigint, waits boolean) LANGUAGE sql STABLE AS $$
    WITH RECURSIVE place AS (
        (
            SELECT d.tenant_id, d.host
            FROM weft.callback_delivery d
            WHERE d.next_at IS NOT NULL AND NOT d.behind
            ORDER BY d.tenant_id, d.host
            LIMIT 1
        ) UNION ALL SELECT n.tenant_id,
        n.host FROM place p CROSS JOIN LATERAL (
            SELECT d.tenant_id, d.host
            FROM weft.callback_delivery d
            WHERE d.next_at IS NOT NULL AND NOT d.behind AND (d.tenant_id, d.host) > (p.tenant_id, p.host)
            ORDER BY d.tenant_id, d.host
            LIMIT 1
        ) n
    )
    SELECT
        d.delivery_id,
        d.order_key IS NOT NULL
            AND d.sink_id IS NOT NULL
            AND EXISTS (
                SELECT
                FROM weft.callback_delivery o
                WHERE o.sink_id = d.sink_id
                    AND o.order_key = d.order_key
                    AND o.delivery_id < d.delivery_id
                    AND o.next_at IS NOT NULL
            )
    FROM place p
    CROSS JOIN LATERAL (
        SELECT y.delivery_id, y.sink_id, y.order_key
        FROM weft.callback_delivery y
        WHERE y.tenant_id = p.tenant_id
            AND y.host = p.host
            AND y.next_at <= _heads_of_hosts.at
            AND NOT y.behind
            AND y.delivery_id <> ALL (_heads_of_hosts.busy)
            AND (
                y.subscription_id IS NULL
                    OR NOT EXISTS (
                        SELECT
                        FROM weft.callback_delivery o
                        WHERE o.subscription_id = y.subscription_id
                            AND o.delivery_id < y.delivery_id
                            AND o.next_at IS NOT NULL
                            AND (o.n_attempts = 0 OR y.order_key IS NOT NULL)
                    )
            )
        ORDER BY y.next_at
        LIMIT _heads_of_hosts.limit_host
    ) d
$$;
