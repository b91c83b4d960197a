-- due_schedules: the schedules that are due, without those whose runs wait for an api.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: by date; waiting runs by key.
-- Returns: the longest due first, each with the clock of the database.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.due_schedules(
    epoch bigint, limit_rows int, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    schedule_id bigint, cron text, time_zone text, missed text, next_at timestamptz, now timestamptz
) LANGUAGE plpgsql PLAN_BY_INDEX AS $$
BEGIN
    RETURN QUERY
    SELECT s.schedule_id, s.cron, s.time_zone, s.missed, s.next_at, due_schedules.at
    FROM weft.schedule s
    WHERE s.next_at <= due_schedules.at
        AND NOT EXISTS (
            SELECT FROM weft.schedule_run r WHERE r.schedule_id = s.schedule_id AND r.ended_at IS NULL
        )
    ORDER BY s.next_at
    LIMIT limit_rows;
END $$;
