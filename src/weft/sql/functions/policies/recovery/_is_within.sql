-- _is_within: whether an exit code is in one of these ranges, each of which is its first and its last code.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._is_within(ranges jsonb, code int) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(bool_or(code BETWEEN (r ->> 0)::int AND (r ->> 1)::int), false)
    FROM jsonb_array_elements(ranges) r
$$;
