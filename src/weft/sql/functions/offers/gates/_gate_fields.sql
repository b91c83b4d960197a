-- _gate_fields: a batch's gates as fields of its document: of those of its own the number of places, or the
--   date from which they open; of its rate `key`, `n` and `per_s`.
-- Plan: gates by batch and by its set.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._gate_fields(of_batch_id bigint) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT coalesce(jsonb_object_agg(f.kind, f.value), '{}')
    FROM (
        SELECT g.kind, coalesce(to_jsonb(g.max_places), to_jsonb(g.opens_at)) AS value
        FROM weft.gate g
        WHERE g.batch_id = of_batch_id AND g.key = weft._gate_key('batch', NULL, of_batch_id, NULL)
        UNION ALL
        SELECT
            g.kind,
            jsonb_build_object(
                'key', regexp_replace(weft._gate_name(g.key), '/[0-9]+ms$', ''),
                'n', g.max_places,
                'per_s', extract(epoch FROM weft._gate_period(g.key))::float8
            )
        FROM weft.batch b
        JOIN weft.gate_member m ON m.gate_set_id = b.gate_set_id
        JOIN weft.gate g ON g.gate_id = m.gate_id
        JOIN weft._gate_kinds() k ON k.kind = g.kind AND k.by_date
        WHERE b.batch_id = of_batch_id
    ) f
$$;
