-- take_schedule_runs: runs for this api to submit as the owners of their schedules, before any other api
--   tries, none of these tenants.
-- Safe to repeat: yes; what a lost reply took comes again when its time is over.
-- Locks: schedule_run (SKIP LOCKED).
-- Plan: runs that wait, by date; schedules and users by key.
-- Returns: the longest due first.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.take_schedule_runs(
    limit_rows int, lease_s double precision, besides int[], at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    schedule_id bigint,
    due_at timestamptz,
    cron text,
    time_zone text,
    document text,
    tenant_id int,
    user_id int,
    user_name text,
    role text
) LANGUAGE plpgsql PLAN_BY_INDEX AS $$
BEGIN
    RETURN QUERY
    WITH free AS MATERIALIZED (
        SELECT r.schedule_id, r.due_at
        FROM weft.schedule_run r
        JOIN weft.schedule s
        USING (schedule_id)
        WHERE r.ended_at IS NULL
            AND s.tenant_id <> ALL (besides)
            AND (r.taken_until IS NULL OR r.taken_until <= take_schedule_runs.at)
        ORDER BY r.due_at
        LIMIT limit_rows
        FOR UPDATE OF r SKIP LOCKED
    ),
    taken AS (
        UPDATE weft.schedule_run r
        SET taken_until = take_schedule_runs.at + take_schedule_runs.lease_s * interval '1 second'
        FROM free f
        WHERE r.schedule_id = f.schedule_id AND r.due_at = f.due_at
        RETURNING r.schedule_id, r.due_at
    )
    SELECT t.schedule_id, t.due_at, s.cron, s.time_zone, s.document, s.tenant_id, s.user_id, u.name, u.role
    FROM taken t
    JOIN weft.schedule s ON s.schedule_id = t.schedule_id
    JOIN weft.tenant_user u ON u.user_id = s.user_id
    ORDER BY t.due_at, t.schedule_id;
END $$;
