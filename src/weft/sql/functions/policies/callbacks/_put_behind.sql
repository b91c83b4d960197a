-- _put_behind: take messages out of the line of what is due that wait for one before them of their order; the
--   end of that one brings the next back (delivery_leaves_its_order).
-- Safe to repeat: yes; one that is busy is looked at again.
-- Locks: delivery (SKIP LOCKED).
-- The first of each order is locked, shared, so that it does not end meanwhile; then those behind it.
-- Plan: the first of each order by callback_delivery_order_idx; by key.
-- Returns: how many.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._put_behind(delivery_ids bigint[]) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_firsts bigint[];
    v_behind bigint[];
BEGIN
    v_firsts := ARRAY(
        SELECT f.delivery_id
        FROM weft.callback_delivery f
        WHERE f.next_at IS NOT NULL
            AND f.delivery_id = ANY (
                ARRAY(
                    SELECT h.delivery_id
                    FROM (
                        SELECT DISTINCT d.sink_id, d.order_key
                        FROM weft.callback_delivery d
                        WHERE d.delivery_id = ANY (_put_behind.delivery_ids)
                    ) k
                    CROSS JOIN LATERAL (
                        SELECT o.delivery_id
                        FROM weft.callback_delivery o
                        WHERE o.sink_id = k.sink_id AND o.order_key = k.order_key AND o.next_at IS NOT NULL
                        ORDER BY o.delivery_id
                        LIMIT 1
                    ) h
                )
            )
        ORDER BY f.delivery_id
        FOR SHARE SKIP LOCKED
    );
    v_behind := ARRAY(
        SELECT d.delivery_id
        FROM weft.callback_delivery f
        JOIN weft.callback_delivery d ON d.sink_id = f.sink_id
            AND d.order_key = f.order_key
            AND d.delivery_id > f.delivery_id
        WHERE f.delivery_id = ANY (v_firsts)
            AND d.delivery_id = ANY (_put_behind.delivery_ids)
            AND d.next_at IS NOT NULL
        FOR UPDATE OF d SKIP LOCKED
    );
    UPDATE weft.callback_delivery d SET behind = true WHERE d.delivery_id = ANY (v_behind);
    RETURN cardinality(v_behind);
END $$;
