-- _end_unchanged: end those of these jobs for which _find_unchanged finds another, well and with its files;
--   but if some were noted for one that is gone by now, list those to run, and leave the others to another
--   call.
-- Safe to repeat: yes, only waiting jobs are changed.
-- For: _after_visible, _end_waits.
-- Locks: job (in key order); as _end_without_attempt (rows above); ready_job (instead, with the job); as
--   _list_ready (instead).
-- Plan: jobs and files by key.
-- Returns: those that it has dealt with.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_unchanged(of_batch_id bigint, of_job_ids int[], at timestamptz)
RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_noted int[] := ARRAY(
        SELECT c.job_id
        FROM weft.job_cache c
        WHERE c.batch_id = of_batch_id AND c.job_id = ANY (of_job_ids) AND c.from_batch IS NOT NULL
        ORDER BY 1
    );
    v_waiting int[] := ARRAY(
        SELECT l.job_id
        FROM (
            SELECT j.job_id
            FROM weft.job j
            WHERE j.batch_id = of_batch_id
                AND j.job_id = ANY (
                    ARRAY(
                        SELECT c.job_id
                        FROM weft.job_cache c
                        WHERE c.batch_id = of_batch_id AND c.job_id = ANY (of_job_ids)
                    )
                )
                AND j.state = STATE_READY
                AND j.attempt = 0
            ORDER BY j.job_id
            FOR UPDATE
        ) l
    );
    v_jobs int[];
    v_lost int[];
BEGIN
    IF v_waiting = '{}' THEN
        RETURN v_noted;
    END IF;
    PERFORM weft._find_unchanged(of_batch_id, v_waiting);
    SELECT
        coalesce(array_agg(c.job_id) FILTER (WHERE c.from_batch IS NOT NULL), '{}'),
        array_agg(c.job_id) FILTER (WHERE c.from_batch IS NULL AND c.job_id = ANY (v_noted))
    INTO v_jobs, v_lost
    FROM weft.job_cache c
    WHERE c.batch_id = of_batch_id AND c.job_id = ANY (v_waiting);
    IF v_lost IS NOT NULL THEN
        DELETE FROM weft.ready_job r WHERE r.batch_id = of_batch_id AND r.job_id = ANY (v_lost);
        PERFORM weft._list_ready(
            array_fill(of_batch_id, ARRAY[cardinality(v_lost)]),
            v_lost,
            array_fill(STATE_READY::smallint, ARRAY[cardinality(v_lost)]),
            _end_unchanged.at
        );
        RETURN v_lost;
    END IF;
    INSERT INTO weft.job_file (
        batch_id, job_id, attempt, path, tenant_id, n_bytes, digest, address, kept_at, from_batch
    )
    SELECT
        c.batch_id, c.job_id, 0, f.path, c.tenant_id, f.n_bytes, f.digest, f.address, f.kept_at,
        CASE WHEN f.address IS NULL THEN f.batch_id END
    FROM weft.job_cache c
    JOIN weft.job s ON s.batch_id = c.from_batch AND s.job_id = c.from_job
    JOIN weft.job_file f ON f.batch_id = s.batch_id AND f.job_id = s.job_id AND f.attempt = s.attempt
    WHERE c.batch_id = of_batch_id AND c.job_id = ANY (v_jobs)
    ON CONFLICT DO NOTHING;
    PERFORM weft._end_without_attempt(of_batch_id, v_jobs, _end_unchanged.at, 'cached', NULL, result => '{}');
    UPDATE weft.job_change x
    SET message = format('as b%s.j%s', c.from_batch, c.from_job)
    FROM weft.job_cache c
    WHERE c.batch_id = of_batch_id
        AND c.job_id = ANY (v_jobs)
        AND x.batch_id = c.batch_id
        AND x.job_id = c.job_id
        AND x.subtype = 'cached';
    RETURN v_noted || v_jobs;
END $$;
