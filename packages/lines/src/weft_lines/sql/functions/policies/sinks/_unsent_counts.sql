-- _unsent_counts: how many messages of sinks have not arrived, by what became of them, and what was said last
--   of one of them.
-- Plan: as _unsent_messages.
-- Returns: a row; null dates and texts if there is none.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._unsent_counts(sink_ids int[], of_batch_id bigint DEFAULT NULL)
RETURNS TABLE (n_open bigint, n_given_up bigint, n_held bigint, oldest_at timestamptz, last_error text)
LANGUAGE sql STABLE AS $$
    SELECT
        count(*) FILTER (WHERE m.state = 'pending'),
        count(*) FILTER (WHERE m.state = 'given_up'),
        count(*) FILTER (WHERE m.state = 'held'),
        min(d.created_at) FILTER (WHERE m.state = 'pending'),
        (
            array_agg(
                coalesce(d.last_error, 'it answered ' || d.last_status) ORDER BY d.tried_at DESC NULLS LAST
            )
        )[1]
    FROM weft._unsent_messages(sink_ids, of_batch_id) d
    CROSS JOIN LATERAL (SELECT weft._message_state(d) AS state OFFSET 0) m
$$;
