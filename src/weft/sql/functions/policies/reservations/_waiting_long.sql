-- _waiting_long: ready jobs of a pool that have waited for at least so long, the first ones of each priority
--   of each user and lane. Others come after one of these, whatever their size. A job that has run, or was
--   blocked, waits since then; one that a worker handed back before its start has waited all the time.
-- Safe to repeat: yes, it only reads. Jobs that wait at gates or are parked are left out.
-- Plan: the 64 users of the highest load, because others come before them; from one priority to the next by
--   ready_job_pkey, at most 8; 20 jobs of each; the first 20 ranges; jobs, and of those tried before their
--   attempts and changes, by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._waiting_long(of_pool_id int, lanes int[], after_s double precision) RETURNS
    TABLE (
        batch_id bigint,
        job_id int,
        user_id int,
        lane_id int,
        cpu_m int,
        memory_mib int,
        waited_s double precision
    ) LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp PLAN_BY_KEY PLAN_ONCE AS $$
    WITH RECURSIVE pool_user AS MATERIALIZED (
        SELECT s.user_id
        FROM weft.user_share s
        WHERE s.pool_id = of_pool_id AND s.active
        ORDER BY s.load DESC, s.user_id DESC
        LIMIT 64
    ),
    place AS (
        SELECT
            u.user_id,
            l.lane_id,
            (
                SELECT min(q.rank)
                FROM weft.ready_job q
                WHERE q.gate_set_id = 0
                    AND q.pool_id = of_pool_id
                    AND q.user_id = u.user_id
                    AND q.lane_id = l.lane_id
            ) AS rank,
            1 AS n
        FROM pool_user u
        CROSS JOIN LATERAL unnest(weft._lanes_with_work(of_pool_id, u.user_id, lanes)) l (lane_id)
        UNION ALL
        SELECT
            p.user_id,
            p.lane_id,
            (
                SELECT min(q.rank)
                FROM weft.ready_job q
                WHERE q.gate_set_id = 0
                    AND q.pool_id = of_pool_id
                    AND q.user_id = p.user_id
                    AND q.lane_id = p.lane_id
                    AND q.rank > p.rank
            ),
            p.n + 1
        FROM place p
        WHERE p.rank IS NOT NULL AND p.n < 8
    )
    SELECT
        j.batch_id,
        j.job_id,
        x.user_id,
        x.lane_id,
        j.cpu_m,
        j.memory_mib,
        date_part('epoch', clock_timestamp() - r.at)
    FROM (
        SELECT p.user_id, p.lane_id, q.batch_id, q.job_id
        FROM place p
        CROSS JOIN LATERAL (
            SELECT y.batch_id, y.job_id
            FROM weft.ready_job y
            WHERE y.gate_set_id = 0
                AND y.pool_id = of_pool_id
                AND y.user_id = p.user_id
                AND y.lane_id = p.lane_id
                AND y.rank = p.rank
            ORDER BY y.rank, y.batch_id, y.job_id
            LIMIT 20
        ) q
        UNION ALL
        SELECT p.user_id, p.lane_id, r.batch_id, f.job_id
        FROM place p
        CROSS JOIN LATERAL (
            SELECT y.batch_id, y.low_job, y.last_job, y.lane_id
            FROM weft.runnable y
            WHERE y.gate_set_id = 0
                AND y.pool_id = of_pool_id
                AND y.user_id = p.user_id
                AND y.lane_id = p.lane_id
            ORDER BY y.batch_id, y.first_job
            LIMIT 20
        ) r
        CROSS JOIN LATERAL (
            SELECT g.job_id
            FROM (
                SELECT z.*
                FROM weft.job z
                WHERE z.batch_id = r.batch_id AND z.job_id BETWEEN r.low_job AND r.last_job
                ORDER BY z.job_id
                LIMIT 100
            ) g
            WHERE g.state = STATE_READY AND NOT g.listed AND g.lane_id = r.lane_id
            ORDER BY g.job_id
            LIMIT 5
        ) f
        WHERE p.n = 1
    ) x
    CROSS JOIN LATERAL (
        SELECT y.*
        FROM weft.job y
        WHERE y.batch_id = x.batch_id AND y.job_id = x.job_id AND y.state = STATE_READY
        OFFSET 0
    ) j
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN j.attempt = 0 THEN f.at
            ELSE greatest(
                f.at,
                (
                    SELECT max(a.ended_at)
                    FROM weft.attempt a
                    WHERE a.batch_id = j.batch_id AND a.job_id = j.job_id AND a.started_at IS NOT NULL
                ),
                (
                    SELECT max(c.at)
                    FROM weft.job_change c
                    WHERE c.batch_id = j.batch_id AND c.job_id = j.job_id AND c.from_state = STATE_BLOCKED
                )
            )
        END AS at
        FROM (
            SELECT coalesce(
                j.ready_at,
                (
                    SELECT u.committed_at
                    FROM weft.batch_update u
                    WHERE u.batch_id = j.batch_id AND u.update_id = j.update_id
                )
            ) AS at
        ) f
    ) r
    WHERE r.at <= clock_timestamp() - after_s * interval '1 second'
        AND weft._may_pass(j.batch_id, j.group_id, j.job_id, j.always_run)
    ORDER BY r.at, j.batch_id, j.job_id
    LIMIT 1000
$$;
