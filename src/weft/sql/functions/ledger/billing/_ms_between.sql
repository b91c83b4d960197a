-- _ms_between: whole milliseconds between two times; the unit of usage. NULL if either is NULL.
-- Safe to repeat: yes.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._ms_between(from_at timestamptz, to_at timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT (date_part('epoch', to_at - from_at) * 1000)::bigint
$$;
