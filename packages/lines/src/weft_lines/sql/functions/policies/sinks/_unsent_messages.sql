-- _unsent_messages: the first messages of sinks that have not arrived, nor were dropped: pending, held or
--   given up.
-- Plan: by callback_delivery_unsent_idx.
-- of_batch_id: only those of its jobs; NULL: of all. of_state: only those in it.
-- Returns: at most 10,000, in no order.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._unsent_messages(
    sink_ids int[], of_batch_id bigint DEFAULT NULL, of_state text DEFAULT NULL
) RETURNS SETOF weft.callback_delivery LANGUAGE sql STABLE AS $$
    SELECT d.*
    FROM weft.callback_delivery d
    WHERE d.sink_id = ANY (sink_ids)
        AND d.delivered_at IS NULL
        AND d.held IS DISTINCT FROM 'dropped'
        AND d.batch_id >= coalesce(of_batch_id, 0)
        AND d.batch_id <= coalesce(of_batch_id, 9223372036854775807)
        AND (of_state IS NULL OR weft._message_state(d) = of_state)
    LIMIT 10000
$$;
