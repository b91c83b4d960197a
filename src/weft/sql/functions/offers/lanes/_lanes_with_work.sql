-- _lanes_with_work: those of these lanes in which a user has ready work.
-- Plan: from one lane to the next by the keys of ready_job and runnable. It runs with the settings of its
--   callers.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lanes_with_work(of_pool_id int, of_user_id int, lanes int[]) RETURNS int[]
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE listed AS (
        SELECT (
            SELECT min(q.lane_id)
            FROM weft.ready_job q
            WHERE q.gate_set_id = 0 AND q.pool_id = of_pool_id AND q.user_id = of_user_id
        ) AS lane_id
        UNION ALL
        SELECT (
            SELECT min(q.lane_id)
            FROM weft.ready_job q
            WHERE q.gate_set_id = 0
                AND q.pool_id = of_pool_id
                AND q.user_id = of_user_id
                AND q.lane_id > p.lane_id
        )
        FROM listed p
        WHERE p.lane_id IS NOT NULL
    ),
    ranged AS (
        SELECT (
            SELECT min(r.lane_id)
            FROM weft.runnable r
            WHERE r.gate_set_id = 0 AND r.pool_id = of_pool_id AND r.user_id = of_user_id
        ) AS lane_id
        UNION ALL
        SELECT (
            SELECT min(r.lane_id)
            FROM weft.runnable r
            WHERE r.gate_set_id = 0
                AND r.pool_id = of_pool_id
                AND r.user_id = of_user_id
                AND r.lane_id > p.lane_id
        )
        FROM ranged p
        WHERE p.lane_id IS NOT NULL
    )
    SELECT array_agg(x.lane_id)
    FROM (SELECT l.lane_id FROM listed l UNION SELECT r.lane_id FROM ranged r) x
    WHERE x.lane_id = ANY (lanes)
$$;
