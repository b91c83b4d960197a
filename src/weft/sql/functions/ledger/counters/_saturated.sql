-- _saturated: a sum of bytes that workers report, within a quarter of what a bigint holds: two of them can be
--   added and written.
-- Safe to repeat: yes.
-- Plan: inlined.
-- Returns: NULL for NULL, which least() would pass over.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._saturated(n_bytes numeric) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN n_bytes IS NOT NULL
            THEN greatest(least(n_bytes, 2305843009213693952), -2305843009213693952)::bigint
    END
$$;
