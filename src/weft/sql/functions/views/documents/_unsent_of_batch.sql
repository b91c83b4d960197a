-- _unsent_of_batch: the field `messages` of the document of a batch: how many messages of each of its sinks
--   have not arrived. No field if all have.
-- Plan: by key; as _unsent_counts, for each sink.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._unsent_of_batch(of_batch_id bigint) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN count(*) = 0 THEN '{}'
        ELSE jsonb_build_object(
            'messages', jsonb_agg(
                jsonb_build_object('sink', s.name) || to_jsonb(m) - 'oldest_at' ORDER BY s.name
            )
        )
    END
    FROM weft.batch b
    JOIN weft.sink s ON s.sink_id = ANY (b.sink_id || b.more_sinks)
    CROSS JOIN LATERAL weft._unsent_counts(ARRAY[s.sink_id], of_batch_id) m
    WHERE b.batch_id = of_batch_id AND m.n_open + m.n_given_up + m.n_held > 0
$$;
