-- _count_minutes: add the changes of a fold to the counts of users, (user 0) of billing projects and (project 0) of tenants; and to the
--   current minute, by user and (user 0) by tenant; forget minutes before the last hour.
-- Called by: fold_deltas.   Safe to repeat: no.   Locks: sums.   Plan: the deltas of the fold, again; by key; old rows by their index.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_minutes(old pg_snapshot, new pg_snapshot, at timestamptz) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
    WITH delta AS MATERIALIZED (  -- Jobs that join a set leave their group in the same transaction: they do not end again.
        SELECT x.tenant_id, x.batch_id, sum(x.n_pending) AS n_pending, sum(x.n_ready) AS n_ready, sum(x.n_queued) AS n_queued,
            sum(x.n_creating) AS n_creating, sum(x.n_running) AS n_running, sum(x.n_blocked) AS n_blocked,
            sum(x.n_succeeded) AS n_succeeded, sum(x.n_failed + x.n_errored) AS n_failed, sum(x.n_cancelled) AS n_cancelled
        FROM weft.job_delta x
        WHERE x.xid >= pg_snapshot_xmin(old) AND x.xid < pg_snapshot_xmax(new)
          AND pg_visible_in_snapshot(x.xid, new) AND NOT pg_visible_in_snapshot(x.xid, old)
        GROUP BY x.xid, x.tenant_id, x.batch_id),
    counts AS (
        INSERT INTO weft.user_count AS u (tenant_id, user_id, project_id, n_pending, n_ready, n_queued, n_creating, n_running, n_blocked)
        SELECT d.tenant_id, coalesce(b.user_id, 0), coalesce(b.project_id, 0), sum(d.n_pending), sum(d.n_ready), sum(d.n_queued),
            sum(d.n_creating), sum(d.n_running), sum(d.n_blocked)
        FROM delta d JOIN weft.batch b ON b.batch_id = d.batch_id
        GROUP BY d.tenant_id, GROUPING SETS ((b.user_id, b.project_id), (b.project_id), ())
        ON CONFLICT (tenant_id, user_id, project_id) DO UPDATE SET n_pending = u.n_pending + excluded.n_pending,
            n_ready = u.n_ready + excluded.n_ready, n_queued = u.n_queued + excluded.n_queued,
            n_creating = u.n_creating + excluded.n_creating, n_running = u.n_running + excluded.n_running,
            n_blocked = u.n_blocked + excluded.n_blocked)
    INSERT INTO weft.user_minute AS m (tenant_id, user_id, minute, n_waiting, n_running, n_succeeded, n_failed, n_cancelled)
    SELECT d.tenant_id, coalesce(b.user_id, 0), date_trunc('minute', _count_minutes.at),
        sum(d.n_pending + d.n_ready + d.n_queued + d.n_creating + d.n_blocked), sum(d.n_running),
        sum(greatest(d.n_succeeded, 0)), sum(greatest(d.n_failed, 0)), sum(greatest(d.n_cancelled, 0))
    FROM delta d JOIN weft.batch b ON b.batch_id = d.batch_id
    GROUP BY GROUPING SETS ((d.tenant_id, b.user_id), (d.tenant_id))
    ON CONFLICT (tenant_id, user_id, minute) DO UPDATE SET n_waiting = m.n_waiting + excluded.n_waiting,
        n_running = m.n_running + excluded.n_running, n_succeeded = m.n_succeeded + excluded.n_succeeded,
        n_failed = m.n_failed + excluded.n_failed, n_cancelled = m.n_cancelled + excluded.n_cancelled;
    DELETE FROM weft.user_minute m WHERE m.minute < date_trunc('minute', _count_minutes.at) - interval '1 hour';
END $$;
