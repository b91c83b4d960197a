-- _queue_counts: how many jobs wait and run in each queue of a tenant that has some.
-- Called by: list_queues, save_queues, commit_update (for queues with a limit).   Safe to repeat: yes, it only reads.
-- Plan: sums of queues and of users by tenant, not batches; the deltas that are not folded.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._queue_counts(of_tenant_id int) RETURNS TABLE (queue text, n_waiting bigint, n_running bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    WITH newer AS MATERIALIZED (
        SELECT s.countables ->> 'queue' AS queue, sum(d.n_pending + d.n_ready + d.n_queued + d.n_creating + d.n_blocked) AS n_waiting,
            sum(d.n_running) AS n_running
        FROM weft.fold f JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto)
        JOIN weft.shape s ON s.shape_id = d.shape_id WHERE d.tenant_id = of_tenant_id GROUP BY 1),
    named AS (
        SELECT x.queue, sum(x.n_waiting)::bigint AS n_waiting, sum(x.n_running)::bigint AS n_running FROM (
            SELECT c.queue, c.n_waiting, c.n_running FROM weft.queue_count c WHERE c.tenant_id = of_tenant_id
            UNION ALL SELECT n.* FROM newer n WHERE n.queue IS NOT NULL) x GROUP BY 1),
    every AS (
        SELECT sum(c.n_pending + c.n_ready + c.n_queued + c.n_creating + c.n_blocked) AS n_waiting, sum(c.n_running) AS n_running
        FROM weft.user_count c WHERE c.tenant_id = of_tenant_id
        UNION ALL SELECT n.n_waiting, n.n_running FROM newer n)
    SELECT n.* FROM named n
    UNION ALL
    SELECT 'default', (coalesce(sum(e.n_waiting), 0) - (SELECT coalesce(sum(n.n_waiting), 0) FROM named n))::bigint,
        (coalesce(sum(e.n_running), 0) - (SELECT coalesce(sum(n.n_running), 0) FROM named n))::bigint FROM every e
$$;
