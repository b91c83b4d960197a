-- _after_notices: end the subscriptions that are told once and have been told.
-- Safe to repeat: yes.
-- Locks: subscription (in the order of their ids); delivery (nobody else: redeliver_callback leaves those
--   that are due as they are).
-- Plan: by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_notices(delivery_ids bigint[], at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_told bigint[];
BEGIN
    SELECT array_agg(x.subscription_id)
    INTO v_told
    FROM (
        SELECT s.subscription_id
        FROM weft.callback_delivery d
        JOIN weft.subscription s ON s.subscription_id = d.subscription_id
        WHERE d.delivery_id = ANY (_after_notices.delivery_ids)
            AND d.delivered_at IS NOT NULL
            AND NOT s.persistent
            AND s.ended_at IS NULL
        ORDER BY s.subscription_id
        FOR NO KEY UPDATE OF s
    ) x;
    UPDATE weft.subscription s SET ended_at = _after_notices.at WHERE s.subscription_id = ANY (v_told);
    -- What waited in case that nothing before it would be delivered.
    DELETE FROM weft.callback_delivery d WHERE d.subscription_id = ANY (v_told) AND d.next_at IS NOT NULL;
END $$;
