-- _travels: what is known of the way over a transport of a job that waits: since when it is offered, and
--   whether the transport has confirmed the message; what its consumers can run, and what of this tenant they
--   do run; since when the transport is away, and why.
-- Plan: lane, offer and state by key; as _consumers; offers of the queue.
-- Returns: NULL: jobs of this lane do not travel.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._travels(of_batch_id bigint, of_job_id int, of_lane_id int, of_pool_id int)
RETURNS jsonb LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT jsonb_build_object(
        'transport', q.transport,
        'since', o.offered_at,
        'confirmed', o.confirmed_at IS NOT NULL,
        'foreign', q.is_foreign,
        'slots', coalesce(CASE WHEN q.is_foreign THEN q.slots ELSE c.slots END, 0),
        'busy', n.busy, 'offered', n.offered, 'away_since', s.away_since, 'error', s.error
    )
    FROM (
        SELECT
            l.asks ->> 'transport' AS transport,
            l.asks ->> 'queue' AS queue,
            l.asks ? 'foreign' AS is_foreign,
            b.tenant_id,
            (SELECT x.slots FROM weft.queue x WHERE x.tenant_id = b.tenant_id AND x.name = l.asks ->> 'queue')
                AS slots
        FROM weft.lane l
        CROSS JOIN weft.batch b
        WHERE l.lane_id = of_lane_id AND l.asks ? 'transport' AND b.batch_id = of_batch_id
    ) q
    LEFT JOIN weft.transport_offer o ON o.batch_id = of_batch_id
        AND o.job_id = of_job_id
        AND o.attempt IS NULL
    LEFT JOIN weft.transport_state s ON s.transport = q.transport
    CROSS JOIN LATERAL weft._consumers(of_pool_id, q.transport, q.queue) c
    CROSS JOIN LATERAL (
        SELECT
            count(*) FILTER (WHERE x.attempt IS NOT NULL) AS busy,
            count(*) FILTER (WHERE x.attempt IS NULL) AS offered
        FROM weft.transport_offer x
        WHERE x.tenant_id = q.tenant_id
            AND x.pool_id = of_pool_id
            AND x.queue = q.queue
            AND x.transport = q.transport
    ) n
$$;
