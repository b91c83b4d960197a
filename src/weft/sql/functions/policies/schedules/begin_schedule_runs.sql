-- begin_schedule_runs: give due schedules their runs, which an api submits, and their next dates.
-- Safe to repeat: yes, a schedule that has moved on is left alone.
-- Locks: as _check_epoch; schedule (in the order of numbers); schedule_run (new).
-- Plan: by key.
-- expected: next_at as the driver knows it; next_ats: NULL: never again, so it is paused.
-- Returns: how many runs there are now.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.begin_schedule_runs(
    epoch bigint,
    schedule_ids bigint[],
    expected timestamptz[],
    next_ats timestamptz[],
    missed_counts bigint[],
    run_schedule_ids bigint[],
    run_due_ats timestamptz[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_runs bigint;
BEGIN
    PERFORM FROM weft.schedule s WHERE s.schedule_id = ANY (schedule_ids) ORDER BY s.schedule_id FOR UPDATE;
    WITH moved AS (
        UPDATE weft.schedule s
        SET
            next_at = t.next_at,
            n_missed = s.n_missed + t.n_missed,
            paused_at = CASE WHEN t.next_at IS NULL THEN begin_schedule_runs.at END,
            pause_reason = CASE WHEN t.next_at IS NULL THEN 'over' END
        FROM unnest(schedule_ids, expected, next_ats, missed_counts) t (
            schedule_id, expected, next_at, n_missed
        )
        WHERE s.schedule_id = t.schedule_id AND s.next_at = t.expected
        RETURNING s.schedule_id, s.tenant_id
    )
    INSERT INTO weft.schedule_run (schedule_id, due_at, tenant_id)
    SELECT m.schedule_id, r.due_at, m.tenant_id
    FROM moved m
    JOIN unnest(run_schedule_ids, run_due_ats) r (schedule_id, due_at) ON r.schedule_id = m.schedule_id
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_runs = ROW_COUNT;
    IF v_runs > 0 THEN
        PERFORM pg_notify('schedules', '');
    END IF;
    RETURN v_runs;
END $$;
