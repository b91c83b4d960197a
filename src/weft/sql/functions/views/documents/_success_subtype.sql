-- _success_subtype: what a job that succeeded with another exit code than 0 says by that, by its rules: their
--   word, or the code; NULL: it has no such rule.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._success_subtype(rules jsonb, code int) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(r ->> 2, 'exit code ' || code)
    FROM jsonb_array_elements(rules -> 'successes') r
    WHERE code BETWEEN (r ->> 0)::int AND (r ->> 1)::int
    LIMIT 1
$$;
