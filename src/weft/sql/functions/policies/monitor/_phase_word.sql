-- _phase_word: the word for a phase, as in documents.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._phase_word(of_phase smallint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT (
        '{assigned,preparing,staging_inputs,submitting,queued_remote,executing,collecting,archiving,publishing}'::text[]
    )[of_phase]
$$;
