-- _end_without_attempt: end jobs of a batch that wait, and of which no attempt will run: well, with a result,
--   which their documents show under its names; or as errors of a kind, if there is none.
-- For: answer_job, _end_waits, _end_unchanged.
-- Safe to repeat: yes, only waiting jobs are changed.
-- Locks: job (in key order); as _end_as_errors (rows above); as _end_waiting (instead); as _announce.
-- Plan: jobs and labels by key.
-- message: what their histories say beside the kind; those of errors need one.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_without_attempt(
    of_batch_id bigint,
    of_job_ids int[],
    at timestamptz,
    kind text,
    message text,
    actor text DEFAULT 'weft',
    result jsonb DEFAULT NULL
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF result IS NULL THEN
        PERFORM weft._end_as_errors(of_batch_id, of_job_ids, _end_without_attempt.at, kind, message, actor);
        RETURN;
    END IF;
    IF weft._end_waiting(of_batch_id, of_job_ids, _end_without_attempt.at, kind, message, actor, true) =
        0 THEN
        RETURN;
    END IF;
    IF result <> '{}' THEN
        UPDATE weft.job_label l
        SET rare_fields = coalesce(l.rare_fields, '{}') || result
        WHERE l.batch_id = of_batch_id AND l.job_id = ANY (of_job_ids);
    END IF;
    PERFORM pg_notify('driver', 'settle');  -- it tells the children
    PERFORM weft._announce();
END $$;
