-- _gate_name: what a key of a gate says beside its owner (_gate_key): its name and the user whom it limits.
-- Plan: inlined.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._gate_name(key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN key LIKE '%/%' THEN substr(key, strpos(key, '/') + 1) ELSE '' END
$$;
