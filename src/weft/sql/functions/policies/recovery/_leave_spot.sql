-- _leave_spot: let jobs that are ready again, and were lost SETTING_SPOT_LOSSES_MAX times on machines that
--   may be taken back, ask for one that stays: they get the shape, and so the lane, without `preemptible`.
--   Those that nothing which stays could hold remain.
-- Safe to repeat: yes.
-- Locks: job (by the caller).
-- Plan: the incarnation; of its jobs that were lost so often everything by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._leave_spot(
    of_incarnation_ids int[], batch_ids bigint[], job_ids int[], states smallint[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT
        FROM weft.worker_incarnation i
        WHERE i.incarnation_id = ANY (of_incarnation_ids) AND i.offers ? 'preemptible'
    ) THEN
        RETURN;
    END IF;
    WITH lost AS MATERIALIZED (
        SELECT j.*, n.shape_id AS new_shape, n.lane_id AS new_lane, w.n_spot
        FROM unnest(batch_ids, job_ids, states) t (b, j, s)
        CROSS JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = t.b AND y.job_id = t.j OFFSET 0) j
        JOIN weft.shape h ON h.shape_id = j.shape_id
        JOIN weft.shape n ON n.cpu_m = h.cpu_m
            AND n.memory_mib = h.memory_mib
            AND n.storage_mib = h.storage_mib
            AND n.gpu = h.gpu
            AND n.countables = h.countables - 'preemptible'
        CROSS JOIN LATERAL (
            SELECT count(*) AS n_spot
            FROM weft.attempt a
            JOIN weft.worker_incarnation i ON i.incarnation_id = a.incarnation_id
            WHERE a.batch_id = t.b
                AND a.job_id = t.j
                AND a.reason IN (REASON_PREEMPTED, REASON_LOST)
                AND a.started_at IS NOT NULL
                AND i.offers ? 'preemptible'
        ) w
        WHERE t.s = STATE_READY
            AND h.countables ? 'preemptible'
            AND j.n_lost >= SETTING_SPOT_LOSSES_MAX
            AND w.n_spot >= SETTING_SPOT_LOSSES_MAX
            AND weft._can_hold(
                (
                    SELECT weft._lane_pool(n.lane_id, q.pool_id)
                    FROM weft.batch b
                    JOIN weft.queue q
                    USING (queue_id)
                    WHERE b.batch_id = t.b
                ),
                n.lane_id,
                n.cpu_m,
                n.memory_mib
            )
    ),
    upd AS (
        UPDATE weft.job j
        SET shape_id = l.new_shape, lane_id = l.new_lane
        FROM lost l
        WHERE j.batch_id = l.batch_id AND j.job_id = l.job_id
    ),
    told AS (
        INSERT INTO weft.job_change (
            batch_id, job_id, tenant_id, at, from_state, to_state, actor, subtype, message
        )
        SELECT
            l.batch_id, l.job_id, l.tenant_id, _leave_spot.at, STATE_READY, STATE_READY, 'weft', 'spot',
            format('lost %s times on machines that may be taken back: it goes to one that stays', l.n_spot)
        FROM lost l
    )
    INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_ready)
    SELECT l.tenant_id, l.batch_id, l.group_id, d.shape_id, weft._shape_pool(d.shape_id, q.pool_id), sum(d.n)
    FROM lost l
    JOIN weft.batch b ON b.batch_id = l.batch_id
    JOIN weft.queue q
    USING (queue_id)
    CROSS JOIN LATERAL (VALUES (l.shape_id, -1), (l.new_shape, 1)) d (shape_id, n)
    GROUP BY l.tenant_id, l.batch_id, l.group_id, d.shape_id, q.pool_id;
END $$;
