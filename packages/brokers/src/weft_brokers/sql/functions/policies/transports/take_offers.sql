-- take_offers: the offers that are due to be sent: new ones, those whose message was not confirmed, and those
--   that nobody has claimed for long, because a transport may lose what it has confirmed. Each message of an
--   offer may arrive: the claim decides.
-- Safe to repeat: yes: what a lost reply took is due again.
-- Locks: as _check_epoch; transport_offer (SKIP LOCKED).
-- Plan: transport_offer_send_idx; batches by key.
-- again_s: seconds until one that is not confirmed is sent again.
-- Returns: in the order of the release; for foreign
--   programs what they answer with, until when, and the chunk of the spec.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.take_offers(
    epoch bigint, transports text[], again_s double precision, limit_offers int
) RETURNS TABLE (
    offer_id bigint,
    batch_id bigint,
    job_id int,
    tenant text,
    queue text,
    transport text,
    fence uuid,
    until timestamptz,
    spec_first int,
    trace_id text
) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    WITH due AS (
        SELECT o.offer_id
        FROM weft.transport_offer o
        WHERE o.attempt IS NULL
            AND o.send_at <= clock_timestamp()
            AND o.transport = ANY (take_offers.transports)
        ORDER BY o.send_at, o.offer_id
        LIMIT take_offers.limit_offers
        FOR UPDATE SKIP LOCKED
    ),
    upd AS (
        UPDATE weft.transport_offer o
        SET sends = least(o.sends + 1, 100), send_at = clock_timestamp() + again_s * interval '1 second'
        FROM due d
        WHERE o.offer_id = d.offer_id
        RETURNING o.*
    )
    SELECT
        u.offer_id, u.batch_id, u.job_id, t.name, u.queue, u.transport, u.fence,
        CASE WHEN u.fence IS NOT NULL THEN u.offered_at + coalesce(q.queued_s, 600) * interval '1 second' END,
        CASE
            WHEN u.fence IS NOT NULL
                THEN (
                    SELECT j.spec_first FROM weft.job j WHERE j.batch_id = u.batch_id AND j.job_id = u.job_id
                )
        END,
        coalesce(b.trace_id, '')
    FROM upd u
    JOIN weft.tenant t
    USING (tenant_id)
    LEFT JOIN LATERAL (SELECT x.trace_id FROM weft.batch x WHERE x.batch_id = u.batch_id OFFSET 0) b ON true
    LEFT JOIN weft.queue q ON q.tenant_id = u.tenant_id AND q.name = u.queue
    ORDER BY u.offer_id;
END $$;
