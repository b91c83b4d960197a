-- _progress_of: the field `progress` of a document, how far an attempt says that it is; NULL: it says
--   nothing.
-- or_before: of one that says nothing yet, what the newest before it said.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._progress_of(
    of_batch_id bigint, of_job_id int, of_attempt smallint, or_before boolean DEFAULT false
) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'progress', jsonb_build_object(
            'percent', n.percent, 'text', n.message, 'at', n.at, 'attempt', n.attempt
        )
    )
    FROM weft.attempt_note n
    WHERE n.batch_id = of_batch_id
        AND n.job_id = of_job_id
        AND n.attempt <= of_attempt
        AND (or_before OR n.attempt = of_attempt)
        AND n.phase = NOTE_OF_PROGRESS
    ORDER BY n.attempt DESC
    LIMIT 1
$$;
