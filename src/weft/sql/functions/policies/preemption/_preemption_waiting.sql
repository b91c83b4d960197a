-- _preemption_waiting: the first ready jobs of a pool in queues with a priority, that have not preempted
--   others since they last ran.
-- Plan: the first 64 users by load; for each lane of such a queue at most 20 listed jobs
--   (ready_job_offer_idx), and of at most 20 ranges the first job.
-- Returns: documents of weft.core.scheduling.preemption.WaitingJob.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._preemption_waiting(of_pool_id int, queues text[]) RETURNS SETOF jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp PLAN_BY_KEY AS $$
    WITH pool_user AS MATERIALIZED (
        SELECT s.user_id
        FROM weft.user_share s
        WHERE s.pool_id = of_pool_id AND s.active AND s.n_ready > 0
        ORDER BY s.load, s.user_id
        LIMIT 64
    ),
    queue_lane AS MATERIALIZED (SELECT l.lane_id FROM weft.lane l WHERE l.asks ->> 'queue' = ANY (queues)),
    head AS MATERIALIZED (
        SELECT h.batch_id, h.job_id
        FROM pool_user u
        CROSS JOIN queue_lane l
        CROSS JOIN LATERAL (
            (
                SELECT r.batch_id, r.job_id
                FROM weft.ready_job r
                WHERE r.gate_set_id = 0
                    AND r.pool_id = of_pool_id
                    AND r.user_id = u.user_id
                    AND r.lane_id = l.lane_id
                ORDER BY r.rank, r.batch_id, r.job_id
                LIMIT 20
            ) UNION ALL (
                SELECT r.batch_id, j.job_id
                FROM (
                    SELECT y.*
                    FROM weft.runnable y
                    WHERE y.gate_set_id = 0
                        AND y.pool_id = of_pool_id
                        AND y.user_id = u.user_id
                        AND y.lane_id = l.lane_id
                    ORDER BY y.batch_id, y.first_job
                    LIMIT 20
                ) r
                CROSS JOIN LATERAL weft._batch_terms(r.batch_id, true) t
                CROSS JOIN LATERAL (
                    SELECT x.job_id
                    FROM weft.job x
                    WHERE x.batch_id = r.batch_id
                        AND x.job_id BETWEEN r.low_job AND r.last_job
                        AND x.state = STATE_READY
                        AND NOT x.listed
                        AND x.lane_id = r.lane_id
                    ORDER BY x.job_id
                    LIMIT 1
                ) j
                WHERE t.is_closed IS FALSE
            )
        ) h
    )
    SELECT jsonb_build_object(
        'batch_id', j.batch_id,
        'job_id', j.job_id,
        'attempt', weft._last_run(j.batch_id, j.job_id),
        'tenant_id', j.tenant_id,
        'priority', weft._queue_priority(j),
        'cpu_m', j.cpu_m,
        'memory_mib', j.memory_mib,
        'asks', l.asks
    )
    FROM head h
    CROSS JOIN LATERAL (
        SELECT x.* FROM weft.job x WHERE x.batch_id = h.batch_id AND x.job_id = h.job_id OFFSET 0
    ) j
    JOIN weft.lane l ON l.lane_id = j.lane_id
    WHERE j.state = STATE_READY
        AND weft._queue_priority(j) IS NOT NULL
        AND NOT weft._has_preempted(j.batch_id, j.job_id)
    ORDER BY weft._queue_priority(j) DESC, j.batch_id, j.job_id
    LIMIT 100
$$;
