-- A message that is behind another one of its order has one before it that is still to be sent.
SELECT d.delivery_id, d.sink_id, d.order_key
FROM weft.callback_delivery d
WHERE d.behind
    AND (
        d.next_at IS NULL
            OR NOT EXISTS (
                SELECT
                FROM weft.callback_delivery o
                WHERE o.sink_id = d.sink_id
                    AND o.order_key = d.order_key
                    AND o.delivery_id < d.delivery_id
                    AND o.next_at IS NOT NULL
            )
    )
