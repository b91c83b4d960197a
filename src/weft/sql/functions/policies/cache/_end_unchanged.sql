-- _end_unchanged: end those of these jobs that _find_unchanged has found another for, well and with its files.
-- Safe to repeat: yes, only waiting jobs are changed.   For: _after_visible, _end_waits.
-- Locks: job (in key order); as _end_without_attempt (rows above).   Plan: jobs and files by key.
-- Returns: the jobs for which one was found.   Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_unchanged(of_batch_id bigint, of_job_ids int[], at timestamptz) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_found int[] := ARRAY(SELECT c.job_id FROM weft.job_cache c
        WHERE c.batch_id = of_batch_id AND c.job_id = ANY (of_job_ids) AND c.from_batch IS NOT NULL ORDER BY 1);
    v_jobs int[] := ARRAY(SELECT l.job_id FROM (SELECT j.job_id FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = ANY (v_found)
        AND j.state = STATE_READY AND j.attempt = 0 ORDER BY j.job_id FOR UPDATE) l);
BEGIN
    IF v_jobs = '{}' THEN
        RETURN v_found;
    END IF;
    INSERT INTO weft.job_file (batch_id, job_id, attempt, path, tenant_id, n_bytes, digest, address, kept_at, from_batch)
    SELECT c.batch_id, c.job_id, 0, f.path, c.tenant_id, f.n_bytes, f.digest, f.address, f.kept_at,
        CASE WHEN f.address IS NULL THEN f.batch_id END
    FROM weft.job_cache c
    JOIN weft.job s ON s.batch_id = c.from_batch AND s.job_id = c.from_job
    JOIN weft.job_file f ON f.batch_id = s.batch_id AND f.job_id = s.job_id AND f.attempt = s.attempt
    WHERE c.batch_id = of_batch_id AND c.job_id = ANY (v_jobs) ON CONFLICT DO NOTHING;
    PERFORM weft._end_without_attempt(of_batch_id, v_jobs, _end_unchanged.at, 'cached', NULL, result => '{}');
    UPDATE weft.job_change x SET message = format('as b%s.j%s', c.from_batch, c.from_job)
    FROM weft.job_cache c
    WHERE c.batch_id = of_batch_id AND c.job_id = ANY (v_jobs) AND x.batch_id = c.batch_id AND x.job_id = c.job_id AND x.subtype = 'cached';
    RETURN v_found;
END $$;
