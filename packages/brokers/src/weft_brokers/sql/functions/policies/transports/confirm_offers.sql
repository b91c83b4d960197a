-- confirm_offers: their transport has confirmed the messages of these offers. They are sent again only if
--   nobody claims them for a minute, then two, four, … at most an hour; never to foreign programs, which
--   would run them twice.
-- Safe to repeat: yes.
-- Plan: by key.
-- Locks: as _check_epoch; transport_offer (SKIP LOCKED: whoever holds one claims or withdraws it, and it
--   needs no confirm).
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.confirm_offers(epoch bigint, offer_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    WITH sent AS (
        SELECT o.offer_id
        FROM weft.transport_offer o
        WHERE o.offer_id = ANY (confirm_offers.offer_ids) AND o.attempt IS NULL
        ORDER BY o.offer_id
        FOR UPDATE SKIP LOCKED
    )
    UPDATE weft.transport_offer o
    SET
        confirmed_at = clock_timestamp(),
        send_at = CASE
            WHEN o.fence IS NOT NULL THEN 'infinity'
            ELSE clock_timestamp() + least(30 * 2 ^ least(o.sends, 10), 3600) * interval '1 second'
        END
    FROM sent s
    WHERE o.offer_id = s.offer_id;
END $$;
