-- database_id: which database this is, to tell it from others that the same home serves.
-- Owner: weft_system.
-- Granted to: weft_worker, weft_tenant.
CREATE OR REPLACE FUNCTION weft.database_id() RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT r.database_id FROM weft.schema_range r
$$;
