-- _has_lease: whether a worker of a pool has claimed a job of one of these lanes that has not started.
-- Plan: live incarnations of the pool; their claims by key, and of those of these lanes the jobs by key.
-- Left out: workers that have claimed many jobs since their last heartbeat: such jobs start at once.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_lease(of_pool_id int, of_lanes int[], claimed_max int DEFAULT 10000)
RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp PLAN_BY_KEY AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.worker_incarnation i
        CROSS JOIN LATERAL (
            SELECT x.batch_id, x.jobs
            FROM weft.claim x
            WHERE x.incarnation_id = i.incarnation_id AND x.lane_id = ANY (of_lanes)
            OFFSET 0
        ) c
        CROSS JOIN LATERAL unnest(c.jobs) n (job_id)
        CROSS JOIN LATERAL (
            SELECT
            FROM weft.job x
            WHERE x.batch_id = c.batch_id
                AND x.job_id = n.job_id
                AND x.state = STATE_RUNNING
                AND x.incarnation_id = i.incarnation_id
                AND x.started_at IS NULL
            OFFSET 0
        ) j
        WHERE i.pool_id = of_pool_id
            AND i.ended_at IS NULL
            AND NOT i.cordoned
            AND NOT i.draining
            AND (
                SELECT coalesce(sum(cardinality(k.jobs)), 0)
                FROM weft.claim k
                WHERE k.incarnation_id = i.incarnation_id
            ) <= claimed_max
    )
$$;
