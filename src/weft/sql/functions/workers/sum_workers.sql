-- sum_workers: how many workers live in the pools that serve a tenant (NULL: in all pools), what they have, what jobs use of it, and those
--   that take no jobs for a reason, by name.
-- Called by: Store.sum_workers (api).   Safe to repeat: yes, it only reads.   Plan: live incarnations by the partial index, their workers
--   by key; users of these pools by key. Jobs are not read: what they use was folded.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.sum_workers(pools_of_tenant_id int, limit_rows int) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    WITH pool AS (SELECT p.pool_id, p.name FROM weft.pool p WHERE weft._serves_tenant(p, pools_of_tenant_id)),
    live AS MATERIALIZED (
        SELECT p.name AS pool, w.name AS worker, weft._worker_state(w, i) AS state, i.cpu_m, i.memory_mib, w.cordoned_at, w.cordon_reason
        FROM pool p JOIN weft.worker_incarnation i ON i.pool_id = p.pool_id AND i.ended_at IS NULL JOIN weft.worker w USING (worker_id))
    SELECT jsonb_build_object('n_workers', count(*), 'cpu', coalesce(sum(l.cpu_m), 0) / 1000.0,
        'memory', coalesce(sum(l.memory_mib), 0) * 1048576,
        'cpu_used', (SELECT coalesce(sum(s.running_m), 0) / 1000.0 FROM pool p JOIN weft.user_share s ON s.pool_id = p.pool_id),
        'set_aside', (SELECT coalesce(jsonb_agg(to_jsonb(a)), '[]') FROM (
            SELECT x.worker, x.pool, x.state, x.cordoned_at, x.cordon_reason FROM live x WHERE x.cordon_reason IS NOT NULL
            ORDER BY x.worker, x.pool LIMIT limit_rows) a))
    FROM live l
$$;
