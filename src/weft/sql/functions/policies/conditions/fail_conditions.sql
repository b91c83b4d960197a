-- fail_conditions: one bounded step: end the jobs of conditions that a person has given up. One without jobs
--   is tested no more.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; job (SKIP LOCKED, in key order); as _end_as_errors; condition (SKIP LOCKED).
-- Plan: conditions by index; their jobs by date; jobs of one batch per call.
-- Returns: how many jobs it ended.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.fail_conditions(
    epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_id bigint;
    v_by text;
    v_batch bigint;
    v_job int[];
BEGIN
    SELECT c.condition_id, c.failed_by
    INTO v_id, v_by
    FROM weft.condition c
    WHERE c.failed_by IS NOT NULL
    ORDER BY c.condition_id
    LIMIT 1;
    IF v_id IS NULL THEN
        RETURN 0;
    END IF;
    SELECT k.batch_id
    INTO v_batch
    FROM weft.blocked_job k
    WHERE k.condition_id = v_id
    ORDER BY k.next_at
    LIMIT 1;
    IF v_batch IS NULL THEN
        PERFORM FROM weft.condition c WHERE c.condition_id = v_id FOR UPDATE SKIP LOCKED;
        IF FOUND AND NOT EXISTS (SELECT FROM weft.blocked_job k WHERE k.condition_id = v_id) THEN
            UPDATE weft.condition c
            SET failed_by = NULL, next_test_at = fail_conditions.at
            WHERE c.condition_id = v_id;
        END IF;
        RETURN 0;
    END IF;
    SELECT array_agg(l.job_id)
    INTO v_job
    FROM (
        SELECT d.batch_id, d.job_id
        FROM (
            SELECT k.batch_id, k.job_id
            FROM weft.blocked_job k
            WHERE k.condition_id = v_id
            ORDER BY k.next_at
            LIMIT limit_jobs
        ) d
        WHERE d.batch_id = v_batch
        ORDER BY d.job_id
    ) t
    CROSS JOIN LATERAL (
        SELECT j.job_id, j.state
        FROM weft.job j
        WHERE j.batch_id = t.batch_id AND j.job_id = t.job_id
        FOR UPDATE SKIP LOCKED
        OFFSET 0
    ) l
    WHERE l.state = STATE_BLOCKED;
    IF v_job IS NULL THEN
        RETURN 0;  -- all rows are locked; the driver comes again
    END IF;
    PERFORM weft._end_as_errors(v_batch, v_job, fail_conditions.at, 'blocked', 'given up by ' || v_by);
    RETURN cardinality(v_job);
END $$;
