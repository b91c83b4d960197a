-- _sleepers: workers of a pool that sleep, serve a lane and are this large, at most 20.
-- Left out: workers that are kept for another job, have slots, or have claimed more than 1,000 jobs since
--   their heartbeat.
-- Plan: workers of the pool that live, by index.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._sleepers(
    of_pool_id int, of_lane_id int, least_cpu_m bigint, least_memory_mib bigint
) RETURNS SETOF weft.worker_incarnation LANGUAGE sql STABLE AS $$
    SELECT i.*
    FROM weft.worker_incarnation i
    JOIN weft.worker_lane l ON l.incarnation_id = i.incarnation_id AND l.lane_id = of_lane_id
    WHERE i.pool_id = of_pool_id
        AND i.ended_at IS NULL
        AND i.waiting
        AND NOT i.cordoned
        AND NOT i.draining
        AND i.cpu_m >= least_cpu_m
        AND i.memory_mib >= least_memory_mib
        AND NOT coalesce(i.offers ? 'slots', false)
        AND NOT EXISTS (SELECT FROM weft.reservation r WHERE r.incarnation_id = i.incarnation_id)
        AND (
            SELECT coalesce(sum(cardinality(c.jobs)), 0) <= 1000
            FROM weft.claim c
            WHERE c.incarnation_id = i.incarnation_id
        )
    LIMIT 20
$$;
