-- sum_workers: how many workers with cores live in the pools that serve a tenant (NULL: in all pools), what
--   they have, what jobs use of it, and those that take no jobs for a reason, by name.
-- Plan: sums of workers and loads of pools by pool; workers with a reason by their index, a page; where
--   tenants have pools of their own one of each pool that serves this one. What jobs use was folded.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.sum_workers(pools_of_tenant_id int, limit_rows int) RETURNS jsonb
LANGUAGE plpgsql STABLE PLAN_BY_KEY PLAN_IN_ORDER PLAN_ONCE AS $$
DECLARE
    v_tenant int := weft._walled_tenant(sum_workers.pools_of_tenant_id);
BEGIN
    RETURN (
        SELECT jsonb_build_object(
            'n_workers', coalesce(sum(s.n_workers), 0),
            'cpu', coalesce(sum(s.cpu_m), 0) / 1000.0,
            'memory', coalesce(sum(s.memory_mib), 0) * 1048576,
            'cpu_used', (
                SELECT coalesce(sum(u.running_m), 0) / 1000.0
                FROM (
                    SELECT l.running_m
                    FROM weft.pool_load l
                    WHERE v_tenant IS NULL
                    UNION ALL
                    SELECT l.running_m
                    FROM weft._pools_serving(v_tenant) p
                    CROSS JOIN LATERAL (
                        SELECT y.running_m FROM weft.pool_load y WHERE y.pool_id = p.pool_id OFFSET 0
                    ) l
                ) u
            ),
            'set_aside', (
                SELECT coalesce(jsonb_agg(to_jsonb(a)), '[]')
                FROM (
                    SELECT o.*
                    FROM (
                        (
                            SELECT
                                w.name AS worker,
                                p.name AS pool,
                                weft._worker_state(w, l.i) AS state,
                                w.cordoned_at,
                                w.cordon_reason
                            FROM weft.worker w
                            CROSS JOIN LATERAL (
                                SELECT y AS i
                                FROM weft.worker_incarnation y
                                WHERE y.worker_id = w.worker_id AND y.ended_at IS NULL
                                OFFSET 0
                            ) l
                            JOIN weft.pool p ON p.pool_id = w.pool_id
                            WHERE v_tenant IS NULL AND w.cordon_reason IS NOT NULL AND w.deleted_at IS NULL
                            ORDER BY w.name, w.worker_id
                            LIMIT limit_rows
                        ) UNION ALL SELECT w.* FROM weft._pools_serving(v_tenant) p CROSS JOIN LATERAL (
                            SELECT
                                x.name AS worker,
                                p.name AS pool,
                                weft._worker_state(x, l.i) AS state,
                                x.cordoned_at,
                                x.cordon_reason
                            FROM weft.worker x
                            CROSS JOIN LATERAL (
                                SELECT y AS i
                                FROM weft.worker_incarnation y
                                WHERE y.worker_id = x.worker_id AND y.ended_at IS NULL
                                OFFSET 0
                            ) l
                            WHERE x.pool_id = p.pool_id
                                AND x.cordon_reason IS NOT NULL
                                AND x.deleted_at IS NULL
                            ORDER BY x.pool_id, x.name
                            LIMIT limit_rows
                        ) w
                    ) o
                    ORDER BY o.worker, o.pool
                    LIMIT limit_rows
                ) a
            )
        )
        FROM (
            SELECT y.*
            FROM weft.worker_sum y
            WHERE v_tenant IS NULL
            UNION ALL
            SELECT z.*
            FROM weft._pools_serving(v_tenant) p
            CROSS JOIN LATERAL (SELECT y.* FROM weft.worker_sum y WHERE y.pool_id = p.pool_id OFFSET 0) z
        ) s
    );
END $$;
