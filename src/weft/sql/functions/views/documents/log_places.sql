-- log_places: where the output of these jobs is kept: of this attempt, or of the last attempt that started. A
--   job that was not run, as the same had succeeded before, has the output of that one, as long as its batch
--   is there; how it ended is its own.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101.
-- Returns: a row per job that has such an attempt.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.log_places(
    tenant_id int, of_batch_id bigint, job_ids int[], of_attempt smallint
) RETURNS TABLE (
    of_job int,
    batch_id bigint,
    job_id int,
    attempt smallint,
    ended boolean,
    segment int,
    log_offset bigint,
    stdout_bytes bigint,
    stderr_bytes bigint,
    truncated boolean,
    state text,
    reason smallint,
    exit_code int,
    signal smallint,
    message text,
    log_place text,
    host text,
    log_directory text,
    why_gone text
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_jobs(of_batch_id, log_places.job_ids);
    RETURN QUERY
    SELECT
        CASE WHEN c.from_job IS NOT NULL THEN j.job_id END,
        coalesce(a.batch_id, j.batch_id),
        coalesce(a.job_id, j.job_id),
        coalesce(a.attempt, j.attempt),
        a.attempt IS NOT NULL OR j.state >= STATE_SUCCESS,
        a.log_segment, a.log_offset, coalesce(a.stdout_bytes, 0), coalesce(a.stderr_bytes, 0),
        coalesce(a.truncated, false), s.word, e.reason, e.exit_code, e.signal, e.message, i.log_place, w.host,
        i.log_directory,
        (SELECT o.why FROM weft.output_term o WHERE o.batch_id = a.batch_id AND a.ended_at <= o.removed_at)
    FROM unnest(log_places.job_ids) t
    CROSS JOIN LATERAL (SELECT x.* FROM weft.job x WHERE x.batch_id = of_batch_id AND x.job_id = t OFFSET 0) j
    CROSS JOIN LATERAL (
        SELECT
        FROM weft.batch_update x
        WHERE x.batch_id = j.batch_id AND x.update_id = j.update_id AND x.committed_at IS NOT NULL
        OFFSET 0
    ) u
    JOIN weft.job_state s ON s.state = j.state
    LEFT JOIN LATERAL (
        SELECT
            x.from_batch,
            x.from_job,
            (SELECT y.attempt FROM weft.job y WHERE y.batch_id = x.from_batch AND y.job_id = x.from_job) AS
                attempt
        FROM weft.job_cache x
        WHERE j.state = STATE_SUCCESS
            AND j.attempt = 0
            AND of_attempt IS NULL
            AND x.batch_id = j.batch_id
            AND x.job_id = j.job_id
            AND EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = x.from_batch AND b.deleted_at IS NULL)
        OFFSET 0
    ) c ON true
    CROSS JOIN LATERAL (
        SELECT coalesce(c.from_batch, j.batch_id) AS batch_id, coalesce(c.from_job, j.job_id) AS job_id
        OFFSET 0
    ) k
    LEFT JOIN LATERAL (
        SELECT x.*
        FROM weft.attempt x
        WHERE x.batch_id = k.batch_id
            AND x.job_id = k.job_id
            AND CASE
                WHEN c.from_job IS NOT NULL THEN x.attempt = c.attempt
                WHEN of_attempt IS NOT NULL THEN x.attempt = of_attempt
                ELSE j.state <> STATE_RUNNING AND (x.started_at IS NOT NULL OR x.attempt = j.attempt)
            END
        ORDER BY x.started_at IS NOT NULL DESC, x.attempt DESC
        LIMIT 1
    ) a ON true
    LEFT JOIN LATERAL (SELECT a.reason, a.exit_code, a.signal, a.message WHERE c.from_job IS NULL) e ON true
    LEFT JOIN weft.worker_incarnation i ON i.incarnation_id = coalesce(a.incarnation_id, j.incarnation_id)
    LEFT JOIN weft.worker w ON w.worker_id = i.worker_id
    WHERE a.attempt IS NOT NULL
        OR j.state >= STATE_SUCCESS
        OR (j.state = STATE_RUNNING AND (of_attempt IS NULL OR of_attempt = j.attempt))
        OR (of_attempt IS NULL AND j.state < STATE_RUNNING)
    ORDER BY j.job_id;
END $$;
