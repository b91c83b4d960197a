-- _bring_next: bring the first message of each of these orders back among what is due.
-- Called by: the triggers of callback_delivery, after a message of the order has ended or gone.   Safe to repeat: yes.
-- Locks: delivery.   Plan: the first of each order by callback_delivery_order_idx.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._bring_next(sink_ids int[], order_keys text[]) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE weft.callback_delivery d SET behind = false
    WHERE d.behind AND d.delivery_id = ANY (ARRAY(
        SELECT n.delivery_id FROM unnest(_bring_next.sink_ids, _bring_next.order_keys) k (sink_id, order_key) CROSS JOIN LATERAL (
            SELECT o.delivery_id FROM weft.callback_delivery o WHERE o.sink_id = k.sink_id AND o.order_key = k.order_key
                AND o.next_at IS NOT NULL ORDER BY o.delivery_id LIMIT 1) n));
    IF FOUND THEN
        PERFORM pg_notify('driver', 'callback');
    END IF;
END $$;
