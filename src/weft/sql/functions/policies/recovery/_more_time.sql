-- _more_time: the time limit in ms of a job that has come this far by the rules of its `retry_with`.
-- Returns: NULL if no rule is about the time limit.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._more_time(rules jsonb, steps int[]) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT (r.rule -> 'limits_ms' -> steps[r.place])::bigint
    FROM jsonb_array_elements(rules) WITH ORDINALITY r (rule, place)
    WHERE r.rule ? 'limits_ms'
$$;
