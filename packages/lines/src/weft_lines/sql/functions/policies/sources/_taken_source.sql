-- _taken_source: lock a source that an api has taken; NULL: another one has taken it since.
-- Safe to repeat: yes.
-- Locks: source.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._taken_source(of_source_id int, taking bigint) RETURNS weft.source
LANGUAGE sql VOLATILE AS $$
    SELECT s.*
    FROM weft.source s
    WHERE s.source_id = of_source_id AND s.n_taken = taking AND s.taken_until IS NOT NULL
    FOR UPDATE
$$;
