-- licence_limits: how many there are of each licence, as jobs are checked at submission.
-- Plan: all licences, which are few.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.licence_limits() RETURNS TABLE (name text, n int) LANGUAGE sql STABLE AS $$
    SELECT l.name, l.n FROM weft.licence l ORDER BY l.name
$$;
