-- schema_range: the number of the schema, and the oldest program that may use it.
-- Owner: weft_system.
-- Granted to: weft_api, weft_driver, weft_worker.
CREATE OR REPLACE FUNCTION weft.schema_range(OUT schema int, OUT oldest_program int) LANGUAGE sql STABLE AS $$
    SELECT r.schema, r.oldest_program FROM weft.schema_range r
$$;
