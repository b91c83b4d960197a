-- list_transports: what is known of these connections, and of the queues of a tenant that travel over them.
-- Plan: states by key; queues of the tenant; their offers, at most twice the slots of consumers; as
--   _consumers.
-- Returns: in the order of the names; queues in the order of theirs. offered: jobs that nobody has taken;
--   unconfirmed: of these, those whose message is not confirmed; sent_again: those that were sent more than
--   once; in_flight: jobs that were taken.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_transports(of_tenant_id int, names text[]) RETURNS SETOF jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'transport', n.name,
        'looked_at', s.looked_at,
        'away_since', s.away_since,
        'error', s.error,
        'dead_messages', (
            SELECT count(*)
            FROM weft.dead_message x
            WHERE x.tenant_id = of_tenant_id AND x.transport = n.name AND x.acknowledged IS NULL
        ),
        'queues', coalesce(
            (
                SELECT jsonb_agg(
                    jsonb_build_object(
                        'queue', q.name, 'workers', c.workers, 'slots', c.slots, 'offered', o.offered,
                        'unconfirmed', o.unconfirmed, 'sent_again', o.sent_again, 'in_flight', o.in_flight,
                        'oldest_at', o.oldest_at, 'messages', d.messages, 'consumers', d.consumers
                    ) ORDER BY q.name
                )
                FROM weft.queue q
                LEFT JOIN weft.transport_depth d
                    ON (d.transport, d.tenant_id, d.queue) = (n.name, of_tenant_id, q.name)
                CROSS JOIN LATERAL (
                    SELECT coalesce(sum(x.workers), 0) AS workers, coalesce(q.slots, sum(x.slots), 0) AS slots
                    FROM weft.pool p
                    CROSS JOIN LATERAL weft._consumers(p.pool_id, n.name, q.name) x
                    WHERE p.name = ANY (q.pools)
                ) c
                CROSS JOIN LATERAL (
                    SELECT
                        count(*) FILTER (WHERE x.attempt IS NULL) AS offered,
                        count(*) FILTER (WHERE x.attempt IS NULL AND x.confirmed_at IS NULL) AS unconfirmed,
                        count(*) FILTER (WHERE x.attempt IS NULL AND x.sends > 1) AS sent_again,
                        count(*) FILTER (WHERE x.attempt IS NOT NULL) AS in_flight,
                        min(x.offered_at) FILTER (WHERE x.attempt IS NULL) AS oldest_at
                    FROM weft.transport_offer x
                    WHERE x.tenant_id = of_tenant_id AND x.queue = q.name AND x.transport = n.name
                ) o
                WHERE q.tenant_id = of_tenant_id AND q.transport = n.name
            ),
            '[]'
        )
    )
    FROM unnest(names) n (name)
    LEFT JOIN weft.transport_state s ON s.transport = n.name
    ORDER BY n.name
$$;
