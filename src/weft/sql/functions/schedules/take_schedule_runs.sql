-- take_schedule_runs: as take_schedule_runs_v2, with the one role that older programs know. Kept for one release.
-- Called by: the api of an older program.   Safe to repeat: as take_schedule_runs_v2.
-- Locks: as take_schedule_runs_v2.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.take_schedule_runs(limit_rows int, lease_s double precision, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (schedule_id bigint, due_at timestamptz, cron text, time_zone text, document text, tenant_id int, user_id int,
    user_name text, is_admin boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.schedule_id, r.due_at, r.cron, r.time_zone, r.document, r.tenant_id, r.user_id, r.user_name, r.role = 'admin'
    FROM weft.take_schedule_runs_v2(take_schedule_runs.limit_rows, take_schedule_runs.lease_s, take_schedule_runs.at) r
$$;
