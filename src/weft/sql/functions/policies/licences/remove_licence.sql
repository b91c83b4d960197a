-- remove_licence: forget a licence. Jobs that have it go on; jobs that wait for it wait until it is set
--   again.
-- Safe to repeat: no.
-- Locks: licence; as _tell_limits.
-- Returns: whether there was one.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.remove_licence(of_name text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.licence l WHERE l.name = of_name;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM weft._tell_limits(ARRAY[g.gate_id], ARRAY[0]) FROM weft._named_gates('licence', NULL, of_name) g;
    RETURN true;
END $$;
