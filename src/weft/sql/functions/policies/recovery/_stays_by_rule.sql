-- _stays_by_rule: whether a job that has come this far by the rules of its `retry_with` is no longer
--   preemptible.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._stays_by_rule(rules jsonb, steps int[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(bool_or(r.rule ->> 'word' = 'preemptible' AND steps[r.place] > 0), false)
    FROM jsonb_array_elements(rules) WITH ORDINALITY r (rule, place)
$$;
