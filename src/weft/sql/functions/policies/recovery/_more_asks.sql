-- _more_asks: what a job may ask for by the rules of its `retry_with`, each of which has come as far as
--   `last_steps` say or less far.
-- asked_sizes, asked_words: what it asks for now. Step 0 of a size is what it asked for at first; step 0 of a
--   word leaves it alone.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._more_asks(
    rules jsonb, last_steps int[], asked_sizes jsonb, asked_words jsonb
) RETURNS TABLE (steps int[], sizes jsonb, words jsonb) LANGUAGE sql IMMUTABLE AS $$
    WITH RECURSIVE ask AS (
        SELECT '{}'::int[] AS steps, asked_sizes AS sizes, asked_words AS words
        UNION ALL
        SELECT
            k.steps || s.step,
            CASE
                WHEN r.rule ? 'size' THEN k.sizes || jsonb_build_object(r.rule ->> 'size', v.value)
                ELSE k.sizes
            END,
            CASE
                WHEN r.rule ? 'size' OR s.step = 0 THEN k.words
                WHEN v.value = 'null' THEN k.words - (r.rule ->> 'word')
                ELSE k.words || jsonb_build_object(r.rule ->> 'word', v.value)
            END
        FROM ask k
        CROSS JOIN LATERAL (SELECT rules -> cardinality(k.steps) AS rule) r
        CROSS JOIN LATERAL generate_series(0, last_steps[cardinality(k.steps) + 1]) s (step)
        CROSS JOIN LATERAL (SELECT r.rule -> 'values' -> s.step AS value) v
        WHERE cardinality(k.steps) < jsonb_array_length(rules)
    )
    SELECT k.steps, k.sizes, k.words
    FROM ask k
    WHERE cardinality(k.steps) = jsonb_array_length(rules)
$$;
