-- _pool_facts: what the workers of a pool could do for jobs of a lane that need this much cpu and memory, and
--   what a user runs there.
-- Plan: live workers of the pool; what runs on at most 20 of them, as _live_attempts, leaving out those that
--   claim many jobs.
-- Returns: `workers`: all; `serving`: those that offer what the lane asks; `ending`: those whose machine ends
--   too soon for its time limit; `large`: of the serving ones, those that are large enough; of all serving
--   ones the largest `cpu` and `memory`; `stopped`: the first large ones that take no jobs; `free`: whether
--   an active one has room; `behind`: one that has, but for a job that it has claimed and that waits for
--   more; `cpu_active`: cores of all active ones; `running`: cores that the user runs; `ahead`: whether a
--   user who runs less has jobs that are offered: not held, not later;
--   `growth`: as _growth.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._pool_facts(
    of_pool_id int, of_lane_id int, needs_cpu_m bigint, needs_memory_mib bigint, of_user_id int
) RETURNS jsonb LANGUAGE sql STABLE SECURITY DEFINER AS $$
    WITH live AS MATERIALIZED (
        SELECT
            i.incarnation_id, i.cpu_m, i.memory_mib, w.name, w.cordon_reason,
            weft._worker_state(w, i) AS state,
            weft._has_cores(i) AS has_cores,
            s.serves AND NOT e.is_ending AS serves,
            s.serves AND e.is_ending AS is_ending,
            i.cpu_m >= needs_cpu_m AND i.memory_mib >= needs_memory_mib AS is_large
        FROM weft.worker_incarnation i
        JOIN weft.worker w
        USING (worker_id)
        CROSS JOIN LATERAL (
            SELECT EXISTS (
                SELECT
                FROM weft.worker_lane l
                WHERE l.incarnation_id = i.incarnation_id AND l.lane_id = of_lane_id
            ) AS serves
        ) s
        CROSS JOIN LATERAL (
            SELECT coalesce(i.offers ? 'timeout_s', false)
                AND NOT weft._ends_in_time(
                    i, (SELECT l.asks FROM weft.lane l WHERE l.lane_id = of_lane_id), clock_timestamp()
                ) AS is_ending
        ) e
        WHERE i.pool_id = of_pool_id AND i.ended_at IS NULL
    ),
    able AS MATERIALIZED (
        SELECT l.* FROM live l WHERE l.serves AND l.is_large AND l.state = 'active' LIMIT 20
    ),
    room AS MATERIALIZED (
        SELECT
            a.name,
            k.n > 1000
                OR u.cpu_m + needs_cpu_m <= a.cpu_m
                    AND u.memory_mib + needs_memory_mib <= a.memory_mib AS now,
            u.cpu_m - u.claimed_m + needs_cpu_m <= a.cpu_m
                AND u.memory_mib - u.claimed_mib + needs_memory_mib <= a.memory_mib AS besides
        FROM able a
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(cardinality(c.jobs)), 0) AS n
            FROM weft.claim c
            WHERE c.incarnation_id = a.incarnation_id
        ) k
        CROSS JOIN LATERAL (
            SELECT
                coalesce(sum(s.cpu_m), 0) AS cpu_m,
                coalesce(sum(s.memory_mib), 0) AS memory_mib,
                coalesce(sum(s.cpu_m) FILTER (WHERE j.phase = PHASE_ASSIGNED), 0) AS claimed_m,
                coalesce(sum(s.memory_mib) FILTER (WHERE j.phase = PHASE_ASSIGNED), 0) AS claimed_mib
            FROM weft._live_attempts(a.incarnation_id) j
            JOIN weft.shape s ON s.shape_id = j.shape_id
            WHERE k.n <= 1000
        ) u
    ),
    share AS (
        SELECT s.running_m, s.load
        FROM weft.user_share s
        WHERE s.pool_id = of_pool_id AND s.user_id = of_user_id
    )
    SELECT jsonb_build_object(
        'pool', (SELECT p.name FROM weft.pool p WHERE p.pool_id = of_pool_id),
        'workers', count(*),
        'serving', count(*) FILTER (WHERE l.serves),
        'large', count(*) FILTER (WHERE l.serves AND l.is_large),
        'active', count(*) FILTER (WHERE l.serves AND l.is_large AND l.state = 'active'),
        'ending', count(*) FILTER (WHERE l.is_ending),
        'cpu', max(l.cpu_m) FILTER (WHERE l.serves) / 1000.0,
        'memory', max(l.memory_mib) FILTER (WHERE l.serves) * 1048576,
        'stopped', coalesce(
            (
                SELECT jsonb_agg(
                    jsonb_build_object('worker', x.name, 'state', x.state, 'reason', x.cordon_reason) ORDER BY
                        x.name
                )
                FROM (
                    SELECT y.name, y.state, y.cordon_reason
                    FROM live y
                    WHERE y.serves AND y.is_large AND y.state <> 'active'
                    ORDER BY y.name
                    LIMIT 6
                ) x
            ),
            '[]'
        ),
        'free', EXISTS (SELECT FROM room r WHERE r.now),
        'behind', (SELECT r.name FROM room r WHERE r.besides AND NOT r.now ORDER BY r.name LIMIT 1),
        'cpu_active', coalesce(sum(l.cpu_m) FILTER (WHERE l.state = 'active' AND l.has_cores), 0) / 1000.0,
        'running', coalesce((SELECT s.running_m FROM share s), 0) / 1000.0,
        'ahead', EXISTS (
            SELECT
            FROM share s
            JOIN weft.user_share o ON o.pool_id = of_pool_id AND o.active AND o.load < s.load
            WHERE EXISTS (
                SELECT
                FROM weft.ready_job q
                WHERE q.gate_set_id = 0 AND q.pool_id = of_pool_id AND q.user_id = o.user_id
            )
                OR EXISTS (
                    SELECT
                    FROM weft.runnable r
                    WHERE r.gate_set_id = 0 AND r.pool_id = of_pool_id AND r.user_id = o.user_id
                )
        ),
        'growth', weft._growth(of_pool_id, of_lane_id, needs_cpu_m, needs_memory_mib)
    )
    FROM live l
$$;
