-- list_minutes: how many jobs waited and ran at the end of each of the last 60 minutes, and how many ended in
--   it, oldest first: those of batches that the caller owns; of the whole tenant, if they see it. As of the
--   last fold.
-- Plan: 60 rows by key; the counts of the user, a row for each billing project, or the one of the tenant.
-- Returns: the levels are those of now without what changed later.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_minutes(tenant_id int, at timestamptz DEFAULT clock_timestamp())
RETURNS SETOF jsonb LANGUAGE sql STABLE AS $$
    WITH level AS (
        SELECT
            coalesce(sum(c.n_pending + c.n_ready + c.n_queued + c.n_creating + c.n_blocked), 0) AS n_waiting,
            coalesce(sum(c.n_running), 0) AS n_running
        FROM weft.user_count c
        WHERE c.tenant_id = list_minutes.tenant_id
            AND c.user_id = coalesce(weft._caller_id(), 0)
            AND c.project_id BETWEEN 0 AND CASE WHEN weft._caller_id() IS NULL THEN 0 ELSE 2147483647 END
    ),
    changed AS (
        SELECT
            s.minute,
            coalesce(m.n_waiting, 0) AS n_waiting,
            coalesce(m.n_running, 0) AS n_running,
            coalesce(m.n_succeeded, 0) AS n_succeeded,
            coalesce(m.n_failed, 0) AS n_failed,
            coalesce(m.n_cancelled, 0) AS n_cancelled
        FROM generate_series(
            date_trunc('minute', list_minutes.at) - interval '59 minutes',
            date_trunc('minute', list_minutes.at),
            interval '1 minute'
        ) s (minute)
        LEFT JOIN weft.user_minute m ON m.tenant_id = list_minutes.tenant_id
            AND m.user_id = coalesce(weft._caller_id(), 0)
            AND m.minute = s.minute
    )
    SELECT jsonb_build_object(
        'at', c.minute,
        'n_waiting', l.n_waiting - coalesce(sum(c.n_waiting) OVER later, 0),
        'n_running', l.n_running - coalesce(sum(c.n_running) OVER later, 0),
        'n_succeeded', c.n_succeeded,
        'n_failed', c.n_failed,
        'n_cancelled', c.n_cancelled
    )
    FROM changed c
    CROSS JOIN level l
    WINDOW later AS (ORDER BY c.minute DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    ORDER BY c.minute
$$;
