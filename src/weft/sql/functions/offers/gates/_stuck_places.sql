-- _stuck_places: jobs that were admitted long ago and not claimed, while a sleeping worker could run another
--   job that waits for their places; it is better to give them back. `until`: those that are stuck by then if
--   nothing happens.
-- Plan: sets at which jobs wait, from one to the next by key; at most 1,000 places of each of their gates;
--   the first 100 jobs of each user that waits in a pool with a sleeping worker.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._stuck_places(at timestamptz, until timestamptz)
RETURNS TABLE (batch_id bigint, job_id int, gate_id int, pool_id int, shape_id int, stuck_at timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_sets int[];
BEGIN
    IF NOT EXISTS (
        SELECT FROM weft.worker_incarnation i WHERE i.ended_at IS NULL AND i.waiting AND NOT i.draining
    ) THEN
        RETURN;
    END IF;
    v_sets := weft._open_sets(ARRAY(SELECT weft._waiting_sets()), _stuck_places.at);
    IF v_sets = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT p.batch_id, p.job_id, p.gate_id, p.pool_id, p.shape_id, p.admitted_at + interval '3 seconds'
    FROM unnest(weft._set_gates(v_sets)) g
    CROSS JOIN LATERAL (
        SELECT y.batch_id, y.job_id, y.gate_id, y.admitted_at, q.pool_id, j.shape_id
        FROM (
            SELECT x.*
            FROM weft.place x
            WHERE x.gate_id = g AND x.admitted_at <= _stuck_places.until - interval '3 seconds'
            ORDER BY x.admitted_at DESC
            LIMIT 1000
        ) y
        JOIN weft.ready_job q ON q.batch_id = y.batch_id AND q.job_id = y.job_id AND q.gate_set_id = 0
        JOIN weft.job j ON j.batch_id = y.batch_id AND j.job_id = y.job_id
    ) p
    WHERE EXISTS (
        SELECT
        FROM weft._waiting_heads(
            ARRAY(
                SELECT m.gate_set_id
                FROM weft.gate_member m
                WHERE m.gate_id = g AND m.gate_set_id = ANY (v_sets)
            )
        ) h
        JOIN weft.worker_incarnation i ON i.pool_id = h.pool_id
            AND i.ended_at IS NULL
            AND i.waiting
            AND NOT i.draining
        CROSS JOIN LATERAL weft._waiting_jobs(
            ARRAY[h.gate_set_id], h.pool_id, h.user_id, 100, false, _stuck_places.at
        ) w
        JOIN weft.job j ON j.batch_id = w.batch_id AND j.job_id = w.job_id
        WHERE NOT EXISTS (
            SELECT
            FROM weft.gate_member m
            JOIN weft.gate x
            USING (gate_id)
            WHERE m.gate_set_id = h.gate_set_id
                AND x.max_places < x.n_taken + m.cost - coalesce(
                    (
                        SELECT y.cost
                        FROM weft.place y
                        WHERE y.batch_id = p.batch_id AND y.job_id = p.job_id AND y.gate_id = x.gate_id
                    ),
                    0
                )
        )
            AND (h.pool_id, w.shape_id) <> (p.pool_id, p.shape_id)
            AND j.cpu_m <= i.cpu_m
            AND j.memory_mib <= i.memory_mib
            AND EXISTS (
                SELECT
                FROM weft.worker_lane l
                WHERE l.incarnation_id = i.incarnation_id AND l.lane_id = j.lane_id
            )
    );
END $$;
