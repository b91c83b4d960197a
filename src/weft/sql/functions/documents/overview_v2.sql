-- overview_v2: workers in the pools that serve a tenant (NULL: in all) with what runs there, and how many jobs that the caller sees
--   wait and run; for `weft top` and for metrics.
-- Called by: Store.overview (api).   Safe to repeat: yes, it only reads.   Plan: small tables; the unfolded deltas.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.overview_v2(tenant_id int, pools_of_tenant_id int) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    WITH counted AS (
        SELECT c.batch_id, c.n_pending, c.n_ready, c.n_running, c.n_queued, c.n_blocked FROM weft.group_count c
        WHERE c.group_id = 0 AND NOT c.complete AND c.tenant_id = overview_v2.tenant_id
        UNION ALL
        SELECT d.batch_id, d.n_pending, d.n_ready, d.n_running, d.n_queued, d.n_blocked FROM weft.fold f
        JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto)
            WHERE d.tenant_id = overview_v2.tenant_id),
    part AS (
        SELECT sum(c.n_pending) AS n_pending, sum(c.n_ready) AS n_ready, sum(c.n_running) AS n_running, sum(c.n_queued) AS n_queued,
            sum(c.n_blocked) AS n_blocked
        FROM counted c GROUP BY c.batch_id HAVING weft._sees_batch(c.batch_id))
    SELECT jsonb_build_object(
        'pending', (SELECT coalesce(sum(n_pending), 0) FROM part), 'ready', (SELECT coalesce(sum(n_ready), 0) FROM part),
        'running', (SELECT coalesce(sum(n_running), 0) FROM part), 'queued', (SELECT coalesce(sum(n_queued), 0) FROM part),
        'blocked', (SELECT coalesce(sum(n_blocked), 0) FROM part),
        'conditions', (SELECT count(*) FROM weft.condition c WHERE c.tenant_id = overview_v2.tenant_id),
        'workers', (SELECT coalesce(jsonb_agg(d.document ORDER BY d.name, d.worker_id), '[]')
            FROM weft._worker_documents(overview_v2.tenant_id,
                ARRAY(SELECT i.incarnation_id FROM weft.worker_incarnation i
                    WHERE i.ended_at IS NULL
                        AND i.pool_id IN (SELECT p.pool_id FROM weft.pool p WHERE weft._serves_tenant(p, pools_of_tenant_id)))) d))
$$;
