-- sum_workers: how many workers live in the pools that serve a tenant (NULL: in all pools), what they have, what jobs use of it, and those
--   that take no jobs for a reason, by name.
-- Called by: Store.sum_workers (api).   Safe to repeat: yes, it only reads.
-- Plan: sums of workers by pool; workers with a reason by their index, a page; loads of pools. What jobs use was folded.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.sum_workers(pools_of_tenant_id int, limit_rows int) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
AS $$
    SELECT jsonb_build_object('n_workers', coalesce(sum(s.n_workers), 0), 'cpu', coalesce(sum(s.cpu_m), 0) / 1000.0,
        'memory', coalesce(sum(s.memory_mib), 0) * 1048576,
        'cpu_used', (SELECT coalesce(sum(u.running_m), 0) / 1000.0 FROM weft.pool_load u CROSS JOIN LATERAL (
            SELECT FROM weft.pool p WHERE p.pool_id = u.pool_id AND weft._serves_tenant(p, pools_of_tenant_id) OFFSET 0) x),
        'set_aside', (SELECT coalesce(jsonb_agg(to_jsonb(a)), '[]') FROM (
            SELECT w.name AS worker, p.name AS pool, weft._worker_state(w, i) AS state, w.cordoned_at, w.cordon_reason
            FROM weft.worker w JOIN weft.worker_incarnation i ON i.worker_id = w.worker_id AND i.ended_at IS NULL
            JOIN weft.pool p ON p.pool_id = w.pool_id
            WHERE w.cordon_reason IS NOT NULL AND w.deleted_at IS NULL AND weft._serves_tenant(p, pools_of_tenant_id)
            ORDER BY w.name, w.worker_id LIMIT limit_rows) a))
    FROM weft.worker_sum s CROSS JOIN LATERAL (
        SELECT FROM weft.pool p WHERE p.pool_id = s.pool_id AND weft._serves_tenant(p, pools_of_tenant_id) OFFSET 0) x
$$;
