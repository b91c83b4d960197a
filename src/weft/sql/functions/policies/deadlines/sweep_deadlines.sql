-- sweep_deadlines: one bounded step: end jobs that are noted as late; or end waiting jobs that can no longer
--   end by their deadline, and stop running ones at their deadline. A row comes at the latest start, and
--   again at the deadline if that is later.
-- A report on a parent counts its failure and then waits for the children, so what waits for parents is noted
--   as late, and ends in a step that locks the counters first.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; deadline (SKIP LOCKED); failure_count (in key order); as _end_waits (rows above).
-- Plan: rows by date, of one batch per call; jobs by key.
-- Returns: how many jobs it examined, at least 1 while work remains.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.sweep_deadlines(
    epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_batch bigint;
    v_row record;
    v_waiting int[] := '{}';
    v_running int[] := '{}';
    v_left int := limit_jobs;
    v_n int;
    v_last int;
    v_wait int[];
    v_run int[];
    v_counts boolean;
    v_pend int[];
    v_pending int[] := '{}';
    v_rest int[];
BEGIN
    SELECT l.batch_id INTO v_batch FROM weft.late_job l LIMIT 1;
    IF v_batch IS NOT NULL THEN
        SELECT array_agg(s.job_id) FILTER (WHERE s.state = STATE_PENDING), array_agg(s.job_id)
        INTO v_pend, v_waiting
        FROM (
            SELECT x.job_id, j.state
            FROM weft.late_job x
            LEFT JOIN LATERAL (
                SELECT y.state FROM weft.job y WHERE y.batch_id = v_batch AND y.job_id = x.job_id OFFSET 0
            ) j ON true
            WHERE x.batch_id = v_batch
            ORDER BY x.job_id
            LIMIT limit_jobs
        ) s;
        IF v_pend IS NOT NULL THEN
            v_waiting := v_pend;
            PERFORM
            FROM weft.failure_count c
            WHERE c.batch_id = v_batch
                AND c.group_id IN (
                    SELECT a.ancestor_id
                    FROM unnest(v_waiting) x
                    JOIN weft.job j ON j.batch_id = v_batch AND j.job_id = x
                    JOIN weft.group_ancestor a ON a.batch_id = j.batch_id AND a.group_id = j.group_id
                )
            ORDER BY c.batch_id, c.group_id
            FOR UPDATE;
        END IF;
        v_rest := weft._end_waits(v_batch, v_waiting, sweep_deadlines.at);
        -- After the jobs were locked: a report that lists one of them notes it, too.
        DELETE FROM weft.late_job l
        WHERE l.batch_id = v_batch AND l.job_id = ANY (v_waiting) AND l.job_id <> ALL (v_rest);
        RETURN greatest(cardinality(v_waiting), 1);  -- none: another driver has ended them; there may be more
    END IF;
    SELECT d.batch_id
    INTO v_batch
    FROM weft.job_deadline d
    WHERE d.due_at <= sweep_deadlines.at
    ORDER BY d.due_at
    LIMIT 1;
    IF v_batch IS NULL THEN
        RETURN 0;
    END IF;
    v_counts := EXISTS (SELECT FROM weft.failure_count f WHERE f.batch_id = v_batch);
    FOR v_row IN
        SELECT d.*
        FROM weft.job_deadline d
        WHERE d.batch_id = v_batch
            AND d.first_job IN (
                SELECT y.first_job
                FROM (
                    SELECT x.batch_id, x.first_job
                    FROM weft.job_deadline x
                    WHERE x.due_at <= sweep_deadlines.at
                    ORDER BY x.due_at
                    LIMIT sweep_deadlines.limit_jobs
                ) y
                WHERE y.batch_id = v_batch
            )
        ORDER BY d.first_job
        FOR UPDATE SKIP LOCKED
    LOOP
        EXIT WHEN v_left <= 0;
        SELECT
            array_agg(x.job_id) FILTER (
                WHERE x.state < STATE_SUCCESS
                    AND x.state <> STATE_RUNNING
                    AND NOT (x.state = STATE_PENDING AND v_counts)
            ),
            array_agg(x.job_id) FILTER (WHERE x.state = STATE_RUNNING),
            array_agg(x.job_id) FILTER (WHERE x.state = STATE_PENDING AND v_counts),
            count(*),
            max(x.job_id)
        INTO v_wait, v_run, v_pend, v_n, v_last
        FROM (
            SELECT j.job_id, j.state
            FROM weft.job j
            WHERE j.batch_id = v_batch AND j.job_id > v_row.sweep_job AND j.job_id <= v_row.last_job
            ORDER BY j.job_id
            LIMIT v_left
        ) x;
        v_waiting := v_waiting || coalesce(v_wait, '{}');
        v_pending := v_pending || coalesce(v_pend, '{}');
        IF v_row.deadline <= sweep_deadlines.at THEN
            v_running := v_running || coalesce(v_run, '{}') || coalesce(v_wait, '{}');
        END IF;
        UPDATE weft.job_deadline d
        SET
            due_at = CASE
                WHEN v_n = v_left AND v_last < v_row.last_job THEN d.due_at
                WHEN d.deadline > sweep_deadlines.at THEN d.deadline
            END,
            sweep_job = CASE
                WHEN v_n = v_left AND v_last < v_row.last_job THEN v_last
                ELSE d.first_job - 1
            END
        WHERE d.batch_id = v_batch AND d.first_job = v_row.first_job;
        v_left := v_left - greatest(v_n, 1);
    END LOOP;
    IF v_left = limit_jobs THEN
        RETURN 0;  -- the rows are locked; they stay due
    END IF;
    v_pending := v_pending || weft._end_waits(v_batch, v_waiting, sweep_deadlines.at);
    -- Also those that waited and were claimed meanwhile: _end_waits has waited for their claim.
    INSERT INTO weft.job_cancel (batch_id, job_id, tenant_id, cancelled_at, actor, late)
    SELECT j.batch_id, j.job_id, j.tenant_id, sweep_deadlines.at, 'weft', true
    FROM unnest(v_running) x
    CROSS JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = v_batch AND y.job_id = x OFFSET 0) j
    WHERE j.state = STATE_RUNNING
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM pg_notify('cancel', v_batch::text);
    END IF;
    INSERT INTO weft.late_job (batch_id, job_id, tenant_id)
    SELECT v_batch, x, b.tenant_id
    FROM unnest(v_pending) x
    JOIN weft.batch b ON b.batch_id = v_batch
    ON CONFLICT DO NOTHING;
    RETURN limit_jobs - v_left;
END $$;
