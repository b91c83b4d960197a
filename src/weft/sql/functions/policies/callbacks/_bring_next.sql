-- _bring_next: bring the first message of each of these orders back among what is due.
-- Safe to repeat: yes.
-- For: the triggers of callback_delivery, after a message of the order has ended or gone.
-- Locks: delivery.
-- Plan: the first of each order by callback_delivery_order_idx.
-- Until there is none: one that was found may be removed meanwhile by who cannot see that the message before
--   it has ended.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._bring_next(sink_ids int[], order_keys text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_ids bigint[];
BEGIN
    LOOP
        v_ids := ARRAY(
            SELECT n.delivery_id
            FROM unnest(_bring_next.sink_ids, _bring_next.order_keys) k (sink_id, order_key)
            CROSS JOIN LATERAL (
                SELECT o.delivery_id, o.behind
                FROM weft.callback_delivery o
                WHERE o.sink_id = k.sink_id AND o.order_key = k.order_key AND o.next_at IS NOT NULL
                ORDER BY o.delivery_id
                LIMIT 1
            ) n
            WHERE n.behind
            ORDER BY n.delivery_id
        );
        EXIT WHEN v_ids = '{}';
        UPDATE weft.callback_delivery d
        SET behind = false
        WHERE d.delivery_id = ANY (v_ids) AND d.behind AND d.next_at IS NOT NULL;
        PERFORM pg_notify('driver', 'callback');
    END LOOP;
END $$;
