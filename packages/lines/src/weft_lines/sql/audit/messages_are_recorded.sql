-- Each job that ended well in a batch with sinks has one message for each of them, or those of its files,
--   products or events; others none.
-- Events tell bad ends, too.
-- An exit code may say that there is nothing to send.
SELECT
    coalesce(j.batch_id, d.batch_id) AS batch_id,
    coalesce(j.job_id, d.job_id) AS job_id,
    coalesce(j.file, d.file) AS file,
    j.state,
    coalesce(j.sink_id, d.sink_id) AS sink_id,
    d.delivery_id,
    d.n_attempts,
    d.next_at
FROM (
    SELECT j.batch_id, j.job_id, j.state, s.sink_id, coalesce(f.path, '') AS file
    FROM weft.job j
    JOIN weft.batch b ON b.batch_id = j.batch_id AND b.sink_id IS NOT NULL
    JOIN weft.attempt a ON a.batch_id = j.batch_id AND a.job_id = j.job_id AND a.attempt = j.attempt
    JOIN weft.sink s ON s.sink_id = ANY (b.sink_id || b.more_sinks)
    LEFT JOIN LATERAL (
        SELECT x.path
        FROM weft.job_file x
        WHERE x.batch_id = j.batch_id
            AND x.job_id = j.job_id
            AND x.attempt = j.attempt
            AND x.message IS NOT NULL
            AND s.document ->> 'each' IS NOT NULL
        UNION ALL
        SELECT 'product ' || p.line
        FROM weft.product p  -- some may have been removed since
        WHERE p.batch_id = j.batch_id
            AND p.job_id = j.job_id
            AND p.kept_at IS NOT NULL
            AND s.document ->> 'products' = 'true'
        UNION ALL
        SELECT format('event %s %s', e.name, j.attempt)
        FROM (VALUES ('start'), ('complete')) e (name)
        WHERE s.document ->> 'events' = 'true'
    ) f ON true
    WHERE j.state = STATE_SUCCESS
        AND NOT EXISTS (
            SELECT
            FROM weft.lifecycle_exit e
            WHERE e.lifecycle_id = j.lifecycle_id
                AND a.exit_code BETWEEN e.first_code AND e.last_code
                AND NOT e.products
        )
) j
FULL JOIN (SELECT * FROM weft.callback_delivery WHERE kind = 'message') d
USING (batch_id, job_id, sink_id, file)
WHERE (
    j.job_id IS NULL
        OR d.delivery_id IS NULL
        OR (d.delivered_at IS NOT NULL AND (d.next_at IS NOT NULL OR d.n_attempts = 0))
        OR (d.next_at IS NULL AND d.n_attempts = 0)
)
    -- A deleted batch sends nothing; nor does a sink of files for a job that left none, or one of jobs for
    -- its files.
    AND NOT EXISTS (
        SELECT
        FROM weft.batch b
        WHERE b.batch_id = coalesce(j.batch_id, d.batch_id) AND b.deleted_at IS NOT NULL
    )
    AND NOT (
        d.delivery_id IS NULL
            AND EXISTS (
                SELECT
                FROM weft.sink s
                WHERE s.sink_id = j.sink_id
                    AND (
                        s.document ->> 'each' IS NULL
                            AND s.document ->> 'products' IS DISTINCT FROM 'true'
                            AND s.document ->> 'events' IS DISTINCT FROM 'true'
                    ) <> (j.file = '')
            )
    )
    AND NOT (j.job_id IS NULL AND (d.file LIKE 'product %' OR d.file LIKE 'event %'))
