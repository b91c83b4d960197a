-- _offered_load: how many jobs of a user workers of a pool may claim, and what these need. What is held,
--   waits for a date or at a gate is ready, but is not offered.
-- Plan: ready_job and runnable by key, the first 200 jobs that are found; of ranges 1,000 jobs at most, by
--   key. It runs with the settings of its caller.
-- Returns: NULL for both if there are more than 200, or a range has more behind what was looked at.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._offered_load(
    of_pool_id int, of_user_id int, OUT n_ready bigint, OUT ready_m bigint
) LANGUAGE sql STABLE AS $$
    WITH listed AS (
        SELECT j.cpu_m
        FROM (
            SELECT q.batch_id, q.job_id
            FROM weft.ready_job q
            WHERE q.gate_set_id = 0 AND q.pool_id = of_pool_id AND q.user_id = of_user_id
            LIMIT 201
        ) q
        CROSS JOIN LATERAL (
            SELECT x.cpu_m
            FROM weft.job x
            WHERE x.batch_id = q.batch_id AND x.job_id = q.job_id AND x.state = STATE_READY
            OFFSET 0
        ) j
    ),
    looked AS MATERIALIZED (
        SELECT r.lane_id, j.state, j.listed, j.lane_id AS of_lane, j.cpu_m
        FROM weft.runnable r
        CROSS JOIN LATERAL (
            SELECT x.*
            FROM weft.job x
            WHERE x.batch_id = r.batch_id AND x.job_id BETWEEN r.low_job AND r.last_job
            ORDER BY x.job_id
            LIMIT 1000
        ) j
        WHERE r.gate_set_id = 0 AND r.pool_id = of_pool_id AND r.user_id = of_user_id
        LIMIT 1000
    ),
    found AS (
        SELECT l.cpu_m
        FROM listed l
        UNION ALL
        SELECT k.cpu_m
        FROM looked k
        WHERE k.state = STATE_READY AND NOT k.listed AND k.of_lane = k.lane_id
    )
    SELECT CASE WHEN s.is_all THEN s.n END, CASE WHEN s.is_all THEN s.m END
    FROM (
        SELECT
            count(*) AS n,
            coalesce(sum(f.cpu_m), 0)::bigint AS m,
            count(*) <= 200 AND (SELECT count(*) FROM looked) < 1000 AS is_all
        FROM found f
    ) s
$$;
