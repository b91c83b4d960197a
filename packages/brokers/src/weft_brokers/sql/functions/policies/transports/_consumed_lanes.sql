-- _consumed_lanes: the lanes of each queue that travels over one of these transports and has consumers: how
--   many jobs these run at a time (of foreign programs: the slots of the queue), how many they have, and how
--   many are offered to them and wait.
-- Plan: lanes, which are few; as _consumers; the offers.
-- Returns: tenant_id: whose jobs; NULL: of all, for workers of weft. cpu_m, memory_mib: the most that one
--   consumer has.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._consumed_lanes(transports text[]) RETURNS TABLE (
    pool_id int,
    tenant_id int,
    queue text,
    transport text,
    lanes int[],
    slots int,
    busy int,
    waiting int,
    cpu_m bigint,
    memory_mib bigint
) LANGUAGE sql STABLE AS $$
    SELECT
        q.pool_id, NULL::int, q.queue, q.transport, q.lanes, c.slots, o.busy, o.waiting, c.cpu_m, c.memory_mib
    FROM (
        SELECT
            l.pool_id,
            l.asks ->> 'queue' AS queue,
            l.asks ->> 'transport' AS transport,
            array_agg(l.lane_id) AS lanes
        FROM weft.lane l
        WHERE l.asks ->> 'transport' = ANY (_consumed_lanes.transports) AND NOT l.asks ? 'foreign'
        GROUP BY 1, 2, 3
    ) q
    CROSS JOIN LATERAL weft._consumers(q.pool_id, q.transport, q.queue) c
    CROSS JOIN LATERAL (
        SELECT count(x.attempt)::int AS busy, (count(*) - count(x.attempt))::int AS waiting
        FROM weft.transport_offer x
        WHERE x.pool_id = q.pool_id AND x.queue = q.queue AND x.transport = q.transport
    ) o
    WHERE c.slots > 0
    UNION ALL
    SELECT
        l.pool_id, q.tenant_id, q.name, q.transport, array_agg(l.lane_id), q.slots, o.busy, o.waiting,
        max(i.cpu_m), max(i.memory_mib)
    FROM weft.queue q
    JOIN weft.lane l ON l.asks
        @> jsonb_build_object('queue', q.name, 'transport', q.transport, 'foreign', 'yes')
    JOIN weft.worker_incarnation i ON i.pool_id = l.pool_id
        AND i.ended_at IS NULL
        AND i.offers ? 'foreign'
        AND NOT i.cordoned
        AND NOT i.draining
    CROSS JOIN LATERAL (
        SELECT count(x.attempt)::int AS busy, (count(*) - count(x.attempt))::int AS waiting
        FROM weft.transport_offer x
        WHERE x.tenant_id = q.tenant_id AND x.queue = q.name AND x.transport = q.transport
    ) o
    WHERE q.consumers = 'foreign' AND q.transport = ANY (_consumed_lanes.transports)
    GROUP BY l.pool_id, q.tenant_id, q.name, q.transport, q.slots, o.busy, o.waiting
$$;
