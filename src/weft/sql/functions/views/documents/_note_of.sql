-- _note_of: what an engine elsewhere says of an attempt in a phase; NULL: nothing.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._note_of(
    of_batch_id bigint, of_job_id int, of_attempt smallint, of_phase smallint
) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT n.message
    FROM weft.attempt_note n
    WHERE n.batch_id = of_batch_id AND n.job_id = of_job_id AND n.attempt = of_attempt AND n.phase = of_phase
$$;
