-- _progress_of_batch: the field `progress` of the document of a batch: how far at most 10 of its running jobs
--   say that they are, the newest word first. No field if none of them says anything.
-- Plan: the newest 100 words of the batch by index, their jobs by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._progress_of_batch(of_batch_id bigint) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN count(*) = 0 THEN '{}'
        ELSE jsonb_build_object(
            'progress', jsonb_agg(
                jsonb_build_object(
                    'job_id', o.job_id,
                    'percent', o.percent,
                    'text', o.message,
                    'at', o.at,
                    'attempt', o.attempt
                ) ORDER BY o.at DESC,
                o.job_id
            )
        )
    END
    FROM (
        SELECT n.*
        FROM (
            SELECT x.*
            FROM weft.attempt_note x
            WHERE x.batch_id = of_batch_id AND x.phase = NOTE_OF_PROGRESS
            ORDER BY x.at DESC
            LIMIT 100
        ) n
        WHERE (
            SELECT j.state = STATE_RUNNING AND j.attempt = n.attempt
            FROM weft.job j
            WHERE j.batch_id = n.batch_id AND j.job_id = n.job_id
        )
        ORDER BY n.at DESC
        LIMIT 10
    ) o
$$;
