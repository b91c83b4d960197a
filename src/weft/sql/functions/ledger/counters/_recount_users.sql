-- _recount_users: make the counts of each user equal to those of the user's batches, and those of billing projects, of tenants and of the
--   queue `default` to those of their users.
-- Called by: begin_term, migrate. A driver of the previous release that folds while the schema changes knows none of them. For one release.
-- Safe to repeat: yes.
-- Locks: term (by the caller); sums.   Plan: batches that are not complete.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._recount_users() RETURNS void LANGUAGE sql
AS $$
    WITH open AS (
        SELECT b.tenant_id, b.user_id, b.project_id, c.n_pending, c.n_ready, c.n_queued, c.n_creating, c.n_running, c.n_blocked
        FROM weft.group_count c JOIN weft.batch b ON b.batch_id = c.batch_id WHERE c.group_id = 0 AND NOT c.complete
        UNION ALL
        SELECT u.tenant_id, u.user_id, u.project_id, 0, 0, 0, 0, 0, 0 FROM weft.user_count u WHERE u.user_id > 0)
    INSERT INTO weft.user_count AS u (tenant_id, user_id, project_id, n_pending, n_ready, n_queued, n_creating, n_running, n_blocked)
    SELECT o.tenant_id, coalesce(o.user_id, 0), coalesce(o.project_id, 0), sum(o.n_pending), sum(o.n_ready), sum(o.n_queued),
        sum(o.n_creating), sum(o.n_running), sum(o.n_blocked)
    FROM open o GROUP BY o.tenant_id, GROUPING SETS ((o.user_id, o.project_id), (o.project_id), ())
    ON CONFLICT (tenant_id, user_id, project_id) DO UPDATE SET n_pending = excluded.n_pending, n_ready = excluded.n_ready,
        n_queued = excluded.n_queued, n_creating = excluded.n_creating, n_running = excluded.n_running, n_blocked = excluded.n_blocked
    WHERE (u.n_pending, u.n_ready, u.n_queued, u.n_creating, u.n_running, u.n_blocked) IS DISTINCT FROM
        (excluded.n_pending, excluded.n_ready, excluded.n_queued, excluded.n_creating, excluded.n_running, excluded.n_blocked);
    INSERT INTO weft.queue_count AS q (tenant_id, queue, n_waiting, n_running)
    SELECT u.tenant_id, 'default', u.n_pending + u.n_ready + u.n_queued + u.n_creating + u.n_blocked - coalesce(n.n_waiting, 0),
        u.n_running - coalesce(n.n_running, 0)
    FROM weft.user_count u
    LEFT JOIN (SELECT c.tenant_id, sum(c.n_waiting)::bigint AS n_waiting, sum(c.n_running)::bigint AS n_running
        FROM weft.queue_count c WHERE c.queue <> 'default' GROUP BY 1) n USING (tenant_id)
    WHERE u.user_id = 0 AND u.project_id = 0
    ON CONFLICT (tenant_id, queue) DO UPDATE SET n_waiting = excluded.n_waiting, n_running = excluded.n_running
    WHERE (q.n_waiting, q.n_running) IS DISTINCT FROM (excluded.n_waiting, excluded.n_running)
$$;
