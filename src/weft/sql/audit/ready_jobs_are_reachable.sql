-- Every ready job is listed in its lane at the rank of its priority, or in a range of its lane, unless it is
--   held or waits before gates.
-- Only jobs of priority 0 stand in a range.
-- A range holds it at or above its low mark, and its user is active. A parked one may be held no more if its
--   group was released and
-- the sweep is about to list it. A late one is parked until the driver ends it. A first quota of cores hides
--   ranges until it has
-- listed their jobs.
-- A batch that is being removed is incomplete.
SELECT j.batch_id, j.job_id, j.listed, s.active
FROM weft.job j
JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0
    AND u.update_id = j.update_id
    AND u.committed_at IS NOT NULL
JOIN weft.batch b ON b.batch_id = j.batch_id
JOIN weft.queue q ON q.queue_id = b.queue_id
CROSS JOIN LATERAL weft._lane_pool(j.lane_id, q.pool_id) o (pool_id)
LEFT JOIN weft.user_share s ON s.pool_id = o.pool_id AND s.user_id = b.user_id
CROSS JOIN LATERAL (
    SELECT r.gate_set_id
    FROM weft.ready_job r
    WHERE j.listed
        AND r.batch_id = j.batch_id
        AND r.job_id = j.job_id
        AND r.pool_id = o.pool_id
        AND r.user_id = b.user_id
        AND r.rank = -j.priority
        AND r.lane_id = j.lane_id
    UNION ALL
    SELECT r.gate_set_id
    FROM weft.runnable r
    WHERE NOT j.listed
        AND j.priority = 0
        AND r.batch_id = j.batch_id
        AND j.job_id BETWEEN r.low_job AND r.last_job
        AND r.lane_id = j.lane_id
        AND r.pool_id = o.pool_id
        AND r.user_id = b.user_id
    UNION ALL
    SELECT NULL
    ORDER BY 1 NULLS LAST
    LIMIT 1
) p
WHERE j.state = STATE_READY
    AND NOT CASE
        WHEN p.gate_set_id = 0
            THEN coalesce(s.active, false)
                OR EXISTS (
                    SELECT FROM weft.held_ready n WHERE n.batch_id = j.batch_id AND n.job_id = j.job_id
                )
        WHEN p.gate_set_id = 1
            THEN weft._is_closed(j.batch_id, j.group_id, j.job_id)
                OR EXISTS (
                    SELECT
                    FROM weft.group_hold h
                    WHERE h.batch_id = j.batch_id AND h.released_at IS NOT NULL AND NOT h.swept
                )
                OR NOT j.listed
                    AND EXISTS (
                        SELECT FROM weft.core_sweep c WHERE c.tenant_id = j.tenant_id AND c.done_at IS NULL
                    )
                OR EXISTS (SELECT FROM weft.late_job t WHERE t.batch_id = j.batch_id AND t.job_id = j.job_id)
        ELSE coalesce(
            (SELECT s.gate_ids FROM weft.gate_set s WHERE s.gate_set_id = p.gate_set_id) = ARRAY(
                SELECT u.x
                FROM (
                    SELECT y.gate_id, max(y.cost) AS cost
                    FROM weft.gate_member y
                    WHERE y.gate_set_id IN (b.gate_set_id, j.gate_set_id)
                    GROUP BY 1
                ) m
                CROSS JOIN LATERAL (VALUES (m.gate_id), (CASE WHEN m.cost > 1 THEN -m.cost END)) u (x)
                WHERE u.x IS NOT NULL
                ORDER BY m.gate_id, u.x DESC
            ),
            false
        )
    END
UNION ALL
SELECT r.batch_id, r.job_id, NULL, NULL
FROM weft.ready_job r
LEFT JOIN weft.job j ON j.batch_id = r.batch_id AND j.job_id = r.job_id
WHERE j.state IS DISTINCT FROM STATE_READY OR r.rank <> -j.priority OR r.lane_id <> j.lane_id
