-- release_blocked: one bounded step: make blocked jobs ready that wait for their dates alone, which have
--   come. Those that were cancelled meanwhile end instead.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; job (SKIP LOCKED, in key order); as _release_jobs. A cancel that holds a row ends
--   its job.
-- Plan: by date; jobs by key.
-- Returns: how many jobs it made ready.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.release_blocked(
    epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_batch bigint[];
    v_job int[];
BEGIN
    SELECT array_agg(l.batch_id), array_agg(l.job_id)
    INTO v_batch, v_job
    FROM (
        SELECT d.batch_id, d.job_id
        FROM (
            SELECT k.batch_id, k.job_id
            FROM weft.blocked_job k
            WHERE k.condition_id IS NULL AND k.next_at <= release_blocked.at
            ORDER BY k.next_at
            LIMIT limit_jobs
        ) d
        ORDER BY d.batch_id, d.job_id
    ) t
    CROSS JOIN LATERAL (
        SELECT j.batch_id, j.job_id, j.state, j.attempt
        FROM weft.job j
        WHERE j.batch_id = t.batch_id AND j.job_id = t.job_id
        FOR UPDATE SKIP LOCKED
        OFFSET 0
    ) l
    WHERE l.state = STATE_BLOCKED
        AND NOT EXISTS (  -- the monitor releases it
            SELECT
            FROM weft.attempt_stop s
            WHERE s.batch_id = l.batch_id AND s.job_id = l.job_id AND s.attempt = l.attempt
        );
    IF v_job IS NULL THEN
        RETURN 0;  -- or all rows are locked; they stay due
    END IF;
    PERFORM weft._release_jobs(v_batch, v_job, release_blocked.at);
    RETURN cardinality(v_job);
END $$;
