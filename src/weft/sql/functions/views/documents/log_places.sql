-- log_places: where the output of these jobs is kept: of this attempt, or of the last attempt that started.
-- Safe to repeat: yes, it only reads.   Plan: by key.   Raises WF101.   Returns: a row per job that has such an attempt.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.log_places(tenant_id int, of_batch_id bigint, job_ids int[], of_attempt smallint)
RETURNS TABLE (batch_id bigint, job_id int, attempt smallint, ended boolean, segment int, log_offset bigint, stdout_bytes bigint,
    stderr_bytes bigint,
               truncated boolean, state text, reason smallint, exit_code int, signal smallint, message text,
    log_place text, host text, log_directory text, why_gone text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_jobs(of_batch_id, log_places.job_ids);
    RETURN QUERY
    SELECT j.batch_id, j.job_id, coalesce(a.attempt, j.attempt), a.attempt IS NOT NULL OR j.state >= STATE_SUCCESS, a.log_segment,
        a.log_offset,
        coalesce(a.stdout_bytes, 0), coalesce(a.stderr_bytes, 0),
           coalesce(a.truncated, false), s.word, a.reason, a.exit_code, a.signal, a.message,
        i.log_place, w.host, i.log_directory,
        (SELECT o.why FROM weft.output_term o WHERE o.batch_id = of_batch_id AND a.ended_at <= o.removed_at)
    FROM unnest(log_places.job_ids) t
    CROSS JOIN LATERAL (SELECT x.* FROM weft.job x WHERE x.batch_id = of_batch_id AND x.job_id = t OFFSET 0) j
    CROSS JOIN LATERAL (
        SELECT FROM weft.batch_update x WHERE x.batch_id = j.batch_id AND x.update_id = j.update_id
            AND x.committed_at IS NOT NULL OFFSET 0) u
    JOIN weft.job_state s ON s.state = j.state
    LEFT JOIN LATERAL (
        SELECT x.* FROM weft.attempt x
        WHERE x.batch_id = j.batch_id AND x.job_id = j.job_id
          AND CASE WHEN of_attempt IS NOT NULL THEN x.attempt = of_attempt ELSE j.state <> STATE_RUNNING AND (x.started_at IS NOT NULL
              OR x.attempt = j.attempt) END
        ORDER BY x.started_at IS NOT NULL DESC, x.attempt DESC LIMIT 1) a ON true
    LEFT JOIN weft.worker_incarnation i ON i.incarnation_id = coalesce(a.incarnation_id, j.incarnation_id)
    LEFT JOIN weft.worker w ON w.worker_id = i.worker_id
    WHERE a.attempt IS NOT NULL OR j.state >= STATE_SUCCESS OR (j.state = STATE_RUNNING AND (of_attempt IS NULL OR of_attempt = j.attempt))
        OR (of_attempt IS NULL AND j.state < STATE_RUNNING)
    ORDER BY j.job_id;
END $$;
