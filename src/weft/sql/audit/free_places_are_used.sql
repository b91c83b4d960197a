-- No job waits before gates that are open and have a free place each, unless a note tells the driver to look.
-- The driver has a minute to open a gate and leave the note when its date comes.
-- Jobs that are cancelled, or for which a switch is closed, wait for a sweep.
SELECT q.batch_id, q.job_id, q.gate_set_id
FROM (
    SELECT q.batch_id, q.job_id, q.gate_set_id
    FROM weft.ready_job q
    WHERE q.gate_set_id > 1
    UNION ALL
    SELECT r.batch_id, j.job_id, r.gate_set_id
    FROM weft.runnable r
    CROSS JOIN LATERAL (
        SELECT y.job_id
        FROM weft.job y
        WHERE y.batch_id = r.batch_id
            AND y.job_id BETWEEN r.low_job AND r.last_job
            AND y.state = STATE_READY
            AND NOT y.listed
            AND y.lane_id = r.lane_id
        ORDER BY y.job_id
        LIMIT 1
    ) j
    WHERE r.gate_set_id > 1
) q
JOIN weft.job j ON j.batch_id = q.batch_id AND j.job_id = q.job_id AND j.state = STATE_READY
WHERE NOT EXISTS (
    SELECT
    FROM weft.gate_member m
    JOIN weft.gate g
    USING (gate_id)
    WHERE m.gate_set_id = q.gate_set_id
        AND (
            g.n_taken + m.cost > g.max_places
                OR g.opens_at > clock_timestamp() - interval '1 minute'
                OR EXISTS (SELECT FROM weft.gate_note n WHERE n.gate_id = g.gate_id)
                -- Kept for a job that needs several places.
                OR EXISTS (
                    SELECT
                    FROM weft.gate_member o
                    WHERE o.gate_id = g.gate_id
                        AND o.cost > 1
                        AND (
                            EXISTS (SELECT FROM weft.ready_job x WHERE x.gate_set_id = o.gate_set_id)
                                OR EXISTS (SELECT FROM weft.runnable x WHERE x.gate_set_id = o.gate_set_id)
                        )
                )
        )
)
    AND weft._may_pass(j.batch_id, j.group_id, j.job_id, j.always_run)
