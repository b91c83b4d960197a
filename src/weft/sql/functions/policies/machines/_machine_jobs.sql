-- _machine_jobs: the ready jobs of a pool that ask for machines of their own, the first ones of each user in
--   turn, by the users' load.
-- Safe to repeat: yes, it only reads. Jobs that wait at gates, and held and cancelled ones, are left out.
-- Plan: the 64 users of the lowest load; the few lanes with such jobs by lane_machine_idx; of each the head
--   by priority and age (ready_job_offer_idx, runnable_offer_idx); jobs by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._machine_jobs(of_pool_id int, limit_jobs int)
RETURNS TABLE (batch_id bigint, job_id int, cpu_m int, memory_mib int, asks jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp PLAN_BY_KEY PLAN_ONCE AS $$
    WITH place AS MATERIALIZED (
        SELECT u.user_id, u.turn, l.lane_id, l.asks
        FROM (
            SELECT s.user_id, row_number() OVER (ORDER BY s.load, s.user_id) AS turn
            FROM weft.user_share s
            WHERE s.pool_id = of_pool_id AND s.active
            ORDER BY s.load, s.user_id
            LIMIT 64
        ) u
        CROSS JOIN (SELECT x.lane_id, x.asks FROM weft.lane x WHERE x.asks ? 'machine' ORDER BY x.lane_id) l
    ),
    head AS MATERIALIZED (
        SELECT
            p.turn,
            p.user_id,
            p.asks,
            h.*,
            row_number() OVER (PARTITION BY p.user_id ORDER BY h.rank, h.batch_id, h.job_id) AS n
        FROM place p
        CROSS JOIN LATERAL (
            (
                SELECT q.rank, q.batch_id, q.job_id
                FROM weft.ready_job q
                WHERE q.gate_set_id = 0
                    AND q.pool_id = of_pool_id
                    AND q.user_id = p.user_id
                    AND q.lane_id = p.lane_id
                ORDER BY q.rank, q.batch_id, q.job_id
                LIMIT limit_jobs
            ) UNION ALL (
                SELECT 0::smallint, r.batch_id, f.job_id
                FROM (
                    SELECT y.batch_id, y.low_job, y.last_job, y.lane_id
                    FROM weft.runnable y
                    WHERE y.gate_set_id = 0
                        AND y.pool_id = of_pool_id
                        AND y.user_id = p.user_id
                        AND y.lane_id = p.lane_id
                    ORDER BY y.batch_id, y.first_job
                    LIMIT limit_jobs
                ) r
                CROSS JOIN LATERAL (
                    SELECT g.job_id
                    FROM (
                        SELECT z.*
                        FROM weft.job z
                        WHERE z.batch_id = r.batch_id AND z.job_id BETWEEN r.low_job AND r.last_job
                        ORDER BY z.job_id
                        LIMIT 1000
                    ) g
                    WHERE g.state = STATE_READY AND NOT g.listed AND g.lane_id = r.lane_id
                    ORDER BY g.job_id
                    LIMIT limit_jobs
                ) f
                LIMIT limit_jobs
            )
        ) h
    )
    SELECT j.batch_id, j.job_id, j.cpu_m, j.memory_mib, h.asks
    FROM (SELECT * FROM head x WHERE x.n <= limit_jobs) h
    CROSS JOIN LATERAL (
        SELECT y.*
        FROM weft.job y
        WHERE y.batch_id = h.batch_id AND y.job_id = h.job_id AND y.state = STATE_READY
        OFFSET 0
    ) j
    WHERE weft._may_pass(j.batch_id, j.group_id, j.job_id, j.always_run)
    ORDER BY h.n, h.turn
    LIMIT limit_jobs
$$;
