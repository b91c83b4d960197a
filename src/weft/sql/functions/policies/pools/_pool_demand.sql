-- _pool_demand: the head of a pool's queue: ready jobs by what they ask, in fair-share order of their users.
-- Safe to repeat: yes, it only reads. Jobs that wait at gates are left out, and most that no worker may
--   claim.
-- Plan: the first 64 users by load; of each an equal part of limit_jobs, of which each of its first 64 lanes
--   has an equal part: a lane whose jobs find no place, as those of a full region, does not hide the others.
--   They are in the order of priority and age (ready_job_offer_idx, runnable_offer_idx); jobs by key. Up to
--   20 attempts of each of the first 50 groups tell how long jobs run.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._pool_demand(of_pool_id int, limit_jobs int)
RETURNS TABLE (cpu_m int, memory_mib int, asks jsonb, n_jobs bigint, runs_s double precision)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp PLAN_BY_KEY PLAN_ONCE AS $$
    WITH pool_user AS MATERIALIZED (
        SELECT u.user_id, u.turn, greatest(limit_jobs / count(*) OVER (), 1) AS part
        FROM (
            SELECT s.user_id, row_number() OVER (ORDER BY s.load, s.user_id) AS turn
            FROM weft.user_share s
            WHERE s.pool_id = of_pool_id AND s.active
            ORDER BY s.load, s.user_id
            LIMIT 64
        ) u
    ),
    user_lane AS MATERIALIZED (
        SELECT
            u.user_id, u.turn, l.lane_id, greatest(u.part / count(*) OVER (PARTITION BY u.user_id), 1) AS part
        FROM pool_user u
        CROSS JOIN LATERAL weft._user_lanes(of_pool_id, u.user_id, 64) l (lane_id)
    ),
    head AS MATERIALIZED (
        SELECT u.turn, u.lane_id, h.*
        FROM user_lane u
        CROSS JOIN LATERAL (
            (
                SELECT j.batch_id, j.cpu_m, j.memory_mib, q.rank
                FROM (
                    SELECT *
                    FROM weft.ready_job r
                    WHERE r.gate_set_id = 0
                        AND r.pool_id = of_pool_id
                        AND r.user_id = u.user_id
                        AND r.lane_id = u.lane_id
                    ORDER BY r.rank, r.batch_id, r.job_id
                    LIMIT u.part
                ) q
                CROSS JOIN LATERAL (
                    SELECT x.* FROM weft.job x WHERE x.batch_id = q.batch_id AND x.job_id = q.job_id OFFSET 0
                ) j
                WHERE j.state = STATE_READY
            ) UNION ALL (
                SELECT r.batch_id, j.cpu_m, j.memory_mib, 0::smallint
                FROM (
                    SELECT *
                    FROM weft.runnable y
                    WHERE y.gate_set_id = 0
                        AND y.pool_id = of_pool_id
                        AND y.user_id = u.user_id
                        AND y.lane_id = u.lane_id
                    ORDER BY y.batch_id, y.first_job
                    LIMIT 100
                ) r
                CROSS JOIN LATERAL weft._batch_terms(r.batch_id, true) t
                CROSS JOIN LATERAL (
                    SELECT x.cpu_m, x.memory_mib
                    FROM (
                        SELECT x.*
                        FROM weft.job x
                        WHERE x.batch_id = r.batch_id AND x.job_id BETWEEN r.low_job AND r.last_job
                        ORDER BY x.job_id
                        LIMIT 10 * u.part
                    ) x  -- others of the range may have other lanes
                    WHERE x.state = STATE_READY AND NOT x.listed AND x.lane_id = r.lane_id
                ) j
                WHERE t.is_closed IS FALSE
                LIMIT u.part
            )
        ) h
    ),
    asked AS MATERIALIZED (
        SELECT
            h.turn,
            h.batch_id,
            h.lane_id,
            h.cpu_m,
            h.memory_mib,
            min(h.rank) AS rank,
            count(*) AS n_jobs,
            row_number() OVER (ORDER BY h.turn, min(h.rank), h.batch_id) AS place
        FROM head h
        GROUP BY 1, 2, 3, 4, 5
    )
    SELECT a.cpu_m, a.memory_mib, coalesce(l.asks, '{}'), a.n_jobs, r.runs_s
    FROM asked a
    LEFT JOIN weft.lane l ON l.lane_id = a.lane_id
    LEFT JOIN LATERAL (
        SELECT avg(date_part('epoch', x.ended_at - x.started_at)) AS runs_s
        FROM (
            SELECT e.ended_at, e.started_at
            FROM weft.attempt e
            WHERE e.batch_id = a.batch_id
            ORDER BY e.batch_id DESC, e.job_id DESC
            LIMIT 20
        ) x
    ) r ON a.place <= 50
    ORDER BY a.place
$$;
