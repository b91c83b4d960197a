-- _after_late_ends: what a worker says of attempts that were stopped beyond a limit: that they are gone, what
--   they used, and where their output is. Their ends stay as they are recorded, whatever it says.
-- Safe to repeat: yes, the second time nothing is noted.
-- Locks: monitor (SKIP LOCKED: the next heartbeat says that they are gone); as _confirm_stops.
-- For: complete_attempts, if some reports were not recorded.
-- Plan: stops and attempts by key, if the worker has any stops.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_late_ends(
    of_incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    cpu_ms_list bigint[],
    memory_peaks bigint[],
    stdout_bytes_list bigint[],
    stderr_bytes_list bigint[],
    truncated_list boolean[],
    segments int[],
    offsets bigint[],
    at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM weft.attempt_stop s WHERE s.incarnation_id = of_incarnation_id AND NOT s.gone) THEN
        WITH late AS MATERIALIZED (
            SELECT
                t.*,
                a.tenant_id,
                weft._kept_bytes(t.stdout_bytes, coalesce(t.stderr_bytes, 0), coalesce(t.truncated, false))
                    - weft._kept_bytes(a.stdout_bytes, a.stderr_bytes, a.truncated) AS n_more
            FROM unnest(
                batch_ids, job_ids, attempts, cpu_ms_list, memory_peaks, stdout_bytes_list, stderr_bytes_list,
                truncated_list, segments, offsets
            ) t (
                batch_id, job_id, attempt, cpu_ms, memory_peak, stdout_bytes, stderr_bytes, truncated,
                segment, log_offset
            )
            JOIN weft.attempt_stop s ON s.batch_id = t.batch_id
                AND s.job_id = t.job_id
                AND s.attempt = t.attempt
            JOIN weft.attempt a ON a.batch_id = t.batch_id AND a.job_id = t.job_id AND a.attempt = t.attempt
            WHERE s.incarnation_id = of_incarnation_id AND NOT s.gone
            FOR UPDATE OF s SKIP LOCKED
        ),
        counted AS (
            INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, stored_bytes)
            SELECT l.tenant_id, l.batch_id, 0, 0, 0, weft._saturated(sum(l.n_more))
            FROM late l
            GROUP BY 1, 2
        )
        UPDATE weft.attempt a
        SET
            cpu_ms = l.cpu_ms,
            memory_peak_bytes = l.memory_peak,
            stdout_bytes = l.stdout_bytes,
            stderr_bytes = coalesce(l.stderr_bytes, 0),
            truncated = coalesce(l.truncated, false),
            log_segment = l.segment,
            log_offset = l.log_offset
        FROM late l
        WHERE a.batch_id = l.batch_id AND a.job_id = l.job_id AND a.attempt = l.attempt;
        PERFORM weft._confirm_stops(
            of_incarnation_id, batch_ids, job_ids, attempts, true, _after_late_ends.at
        );
    END IF;
END $$;
