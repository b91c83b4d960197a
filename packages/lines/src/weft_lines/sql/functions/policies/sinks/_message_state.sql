-- _message_state: what became of a message of a sink, in a word. One without a next attempt was delivered,
--   dropped or given up.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._message_state(delivery weft.callback_delivery) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN delivery.delivered_at IS NOT NULL THEN 'delivered'
        WHEN delivery.held = 'dropped' THEN 'dropped'
        WHEN delivery.next_at IS NOT NULL THEN 'pending'
        WHEN delivery.held = 'held' THEN 'held'
        ELSE 'given_up'
    END
$$;
