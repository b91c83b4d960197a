-- _gate_period: how long after a start its place at a gate of a kind `by_date` (_gate_kinds) comes back.
-- Plan: inlined.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._gate_period(key text) RETURNS interval LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(substring(key FROM '/([0-9]+)ms$')::int, 1000) * interval '1 millisecond'
$$;
