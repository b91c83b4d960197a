-- _status_changes: the statuses of a job, as rows of its history; before them those of the item of a source
--   that it was.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._status_changes(of_job weft.job) RETURNS TABLE (
    part int,
    at timestamptz,
    from_state smallint,
    to_state smallint,
    phase smallint,
    attempt smallint,
    actor text,
    subtype text,
    message text,
    status text
) LANGUAGE sql STABLE AS $$
    SELECT
        9, c.at, NULL::smallint, NULL::smallint, NULL::smallint, c.attempt, c.actor, c.subtype, c.message,
        l.statuses[c.status]
    FROM weft.job_status_change c
    JOIN weft.lifecycle l ON l.lifecycle_id = of_job.lifecycle_id
    WHERE c.batch_id = of_job.batch_id
        AND c.job_id = of_job.job_id
        AND c.n > coalesce(
            (
                SELECT max(i.repeats)
                FROM weft.source_item_change i
                WHERE i.batch_id = c.batch_id AND i.job_id = c.job_id
            ),
            0
        )
    UNION ALL
    SELECT 0, i.at, NULL, STATE_PENDING::smallint, NULL, NULL, 'source ' || s.name, NULL, i.reason, i.status
    FROM weft.source_item_change i
    JOIN weft.source s ON s.source_id = i.source_id
    WHERE i.batch_id = of_job.batch_id AND i.job_id = of_job.job_id AND i.status IS NOT NULL
$$;
