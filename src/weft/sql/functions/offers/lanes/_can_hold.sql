-- _can_hold: whether a pool has a live worker, or may make a machine, that can ever run a job of this lane
--   and size.
-- Plan: live workers of the pool; its flavours.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._can_hold(
    of_pool_id int, of_lane_id int, needs_cpu_m bigint, needs_memory_mib bigint
) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.worker_incarnation i
        JOIN weft.worker_lane l ON l.incarnation_id = i.incarnation_id AND l.lane_id = of_lane_id
        WHERE i.pool_id = of_pool_id
            AND i.ended_at IS NULL
            AND i.cpu_m >= needs_cpu_m
            AND i.memory_mib >= needs_memory_mib
    )
        OR EXISTS (
            SELECT
            FROM weft.pool p
            CROSS JOIN LATERAL weft._flavours(p) f
            JOIN weft.lane l ON l.lane_id = of_lane_id
            WHERE p.pool_id = of_pool_id
                AND f.cpu_m >= needs_cpu_m
                AND f.memory_mib >= needs_memory_mib
                AND weft._serves(f.offers, l.asks - 'region')
        )
$$;
