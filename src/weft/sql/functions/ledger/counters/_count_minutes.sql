-- _count_minutes: add the changes of a fold to the counts of queues, of users, (user 0) of billing projects
--   and (project 0) of tenants; and to the current minute, by user and (user 0) by tenant; forget minutes
--   before the last hour.
-- Safe to repeat: no.
-- Locks: sums.
-- Plan: batches and shapes by key; old rows by their index.
-- Jobs that join a set leave their group in the same transaction: they do not end again, and the ends of a
--   retry are not taken back. So where deltas take ends back, those of the fold are read again, by
--   transaction.
-- sums: of the deltas of the fold, without their groups.
-- old: where it begins, NULL if none of them takes back an end.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_minutes(
    sums weft.job_delta[], old pg_snapshot, new pg_snapshot, at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH delta AS MATERIALIZED (
        SELECT s.*, b.user_id, b.project_id
        FROM (
            SELECT
                x.tenant_id, x.batch_id, x.n_pending, x.n_ready, x.n_queued, x.n_creating, x.n_running,
                x.n_blocked,
                CASE WHEN old IS NULL THEN x.n_succeeded ELSE 0 END AS n_succeeded,
                CASE WHEN old IS NULL THEN x.n_failed + x.n_errored ELSE 0 END AS n_failed,
                CASE WHEN old IS NULL THEN x.n_cancelled ELSE 0 END AS n_cancelled
            FROM unnest(sums) x
            UNION ALL
            SELECT
                x.tenant_id, x.batch_id, 0, 0, 0, 0, 0, 0, greatest(sum(x.n_succeeded), 0),
                greatest(sum(x.n_failed + x.n_errored), 0),
                greatest(sum(x.n_cancelled), 0)
            FROM weft.job_delta x
            WHERE old IS NOT NULL
                AND x.xid >= pg_snapshot_xmin(old)
                AND x.xid < pg_snapshot_xmax(new)
                AND pg_visible_in_snapshot(x.xid, new)
                AND NOT pg_visible_in_snapshot(x.xid, old)
            GROUP BY x.xid, x.tenant_id, x.batch_id
        ) s
        CROSS JOIN LATERAL (
            SELECT x.user_id, x.project_id FROM weft.batch x WHERE x.batch_id = s.batch_id OFFSET 0
        ) b
    ),
    queues AS (
        INSERT INTO weft.queue_count AS q (tenant_id, queue, n_waiting, n_running)
        SELECT
            d.tenant_id,
            coalesce(h.queue, 'default'),
            sum(d.n_pending + d.n_ready + d.n_queued + d.n_creating + d.n_blocked),
            sum(d.n_running)
        FROM unnest(sums) d
        CROSS JOIN LATERAL (
            SELECT x.countables ->> 'queue' AS queue FROM weft.shape x WHERE x.shape_id = d.shape_id OFFSET 0
        ) h
        GROUP BY 1, 2
        ON CONFLICT (tenant_id, queue) DO UPDATE
        SET n_waiting = q.n_waiting + excluded.n_waiting, n_running = q.n_running + excluded.n_running
    ),
    counts AS (
        INSERT INTO weft.user_count AS u (
            tenant_id, user_id, project_id, n_pending, n_ready, n_queued, n_creating, n_running, n_blocked
        )
        SELECT
            d.tenant_id, coalesce(d.user_id, 0), coalesce(d.project_id, 0), sum(d.n_pending), sum(d.n_ready),
            sum(d.n_queued), sum(d.n_creating), sum(d.n_running), sum(d.n_blocked)
        FROM delta d
        GROUP BY d.tenant_id, GROUPING SETS ((d.user_id, d.project_id), (d.project_id), ())
        ON CONFLICT (tenant_id, user_id, project_id) DO UPDATE
        SET
            n_pending = u.n_pending + excluded.n_pending,
            n_ready = u.n_ready + excluded.n_ready,
            n_queued = u.n_queued + excluded.n_queued,
            n_creating = u.n_creating + excluded.n_creating,
            n_running = u.n_running + excluded.n_running,
            n_blocked = u.n_blocked + excluded.n_blocked
    )
    INSERT INTO weft.user_minute AS m (
        tenant_id, user_id, minute, n_waiting, n_running, n_succeeded, n_failed, n_cancelled
    )
    SELECT
        d.tenant_id,
        coalesce(d.user_id, 0),
        date_trunc('minute', _count_minutes.at),
        sum(d.n_pending + d.n_ready + d.n_queued + d.n_creating + d.n_blocked),
        sum(d.n_running),
        sum(d.n_succeeded),
        sum(d.n_failed),
        sum(d.n_cancelled)
    FROM delta d
    GROUP BY GROUPING SETS ((d.tenant_id, d.user_id), (d.tenant_id))
    ON CONFLICT (tenant_id, user_id, minute) DO UPDATE
    SET
        n_waiting = m.n_waiting + excluded.n_waiting,
        n_running = m.n_running + excluded.n_running,
        n_succeeded = m.n_succeeded + excluded.n_succeeded,
        n_failed = m.n_failed + excluded.n_failed,
        n_cancelled = m.n_cancelled + excluded.n_cancelled;
    DELETE FROM weft.user_minute m
    WHERE m.minute < date_trunc('minute', _count_minutes.at) - interval '1 hour';
END $$;
