-- _count_minutes: add the changes of a fold to the current minute, by user and (user 0) by tenant, and forget minutes before the last hour.
-- Called by: fold_deltas.   Safe to repeat: no.   Locks: sums.   Plan: the deltas of the fold, again; by key; old rows by their index.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_minutes(old pg_snapshot, new pg_snapshot, at timestamptz) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO weft.user_minute AS m (tenant_id, user_id, minute, n_waiting, n_running, n_succeeded, n_failed, n_cancelled)
    SELECT d.tenant_id, coalesce(b.user_id, 0), date_trunc('minute', _count_minutes.at),
        sum(d.n_pending + d.n_ready + d.n_queued + d.n_creating + d.n_blocked), sum(d.n_running), sum(greatest(d.n_succeeded, 0)),
        sum(greatest(d.n_failed + d.n_errored, 0)), sum(greatest(d.n_cancelled, 0))
    FROM weft.job_delta d JOIN weft.batch b ON b.batch_id = d.batch_id
    WHERE d.xid >= pg_snapshot_xmin(old) AND d.xid < pg_snapshot_xmax(new)
      AND pg_visible_in_snapshot(d.xid, new) AND NOT pg_visible_in_snapshot(d.xid, old)
    GROUP BY GROUPING SETS ((d.tenant_id, b.user_id), (d.tenant_id))
    ON CONFLICT (tenant_id, user_id, minute) DO UPDATE SET n_waiting = m.n_waiting + excluded.n_waiting,
        n_running = m.n_running + excluded.n_running, n_succeeded = m.n_succeeded + excluded.n_succeeded,
        n_failed = m.n_failed + excluded.n_failed, n_cancelled = m.n_cancelled + excluded.n_cancelled;
    DELETE FROM weft.user_minute m WHERE m.minute < date_trunc('minute', _count_minutes.at) - interval '1 hour';
END $$;
