-- _phase_limit: how long an attempt may be in a phase, by the limits of its queue; NULL: as long as it likes.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._phase_limit(monitor jsonb, of_phase smallint) RETURNS interval
LANGUAGE sql IMMUTABLE AS $$
    SELECT interval '1 s' * (monitor ->> (weft._phase_word(of_phase) || '_s'))::float8
$$;
