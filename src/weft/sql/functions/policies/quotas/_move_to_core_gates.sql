-- _move_to_core_gates: let jobs that have not ended have these gate sets instead of their own. Ready ones
--   wait at them, held ones stay parked; those that run, travel or wait for their machine get the places that
--   they lack, but none for a start that was counted.
-- Safe to repeat: no.
-- Locks: batch (by the caller); update (nobody else); job (by the caller); place (with the job); ready_job
--   (by the caller); as _move_ranges; gate (in the order of their ids).
-- Plan: everything by key.
-- gate_sets: side by side with the jobs.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._move_to_core_gates(of_batch_id bigint, of_job_ids int[], gate_sets int[])
RETURNS void LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_batch record;
    v_ready int[];
    v_sets int[];
    v_gates int[];
    v_places bigint[];
BEGIN
    SELECT
        b.tenant_id,
        b.user_id,
        b.gate_set_id,
        q.pool_id,
        EXISTS (SELECT FROM weft._switches(b.batch_id)) AS has_switch
    INTO v_batch
    FROM weft.batch b
    JOIN weft.queue q
    USING (queue_id)
    WHERE b.batch_id = of_batch_id;
    v_ready := ARRAY(
        SELECT x
        FROM unnest(of_job_ids) x
        CROSS JOIN LATERAL (
            SELECT y.state FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = x OFFSET 0
        ) j
        WHERE j.state = STATE_READY
    );
    -- What was admitted and not claimed passes all its gates once more.
    PERFORM weft._free_places(array_fill(of_batch_id, ARRAY[cardinality(v_ready)]), v_ready);
    WITH old AS MATERIALIZED (
        SELECT t.x AS job_id, t.s AS gate_set_id, j.listed, u.committed_at IS NOT NULL AS is_committed
        FROM unnest(of_job_ids, gate_sets) t (x, s)
        CROSS JOIN LATERAL (
            SELECT y.listed, y.update_id
            FROM weft.job y
            WHERE y.batch_id = of_batch_id AND y.job_id = t.x
            OFFSET 0
        ) j
        JOIN weft.batch_update u ON u.batch_id = of_batch_id AND u.update_id = j.update_id
    ),
    combined AS MATERIALIZED (
        SELECT d.s, weft._job_gates(v_batch.gate_set_id, d.s) AS all_gates
        FROM (SELECT DISTINCT s FROM unnest(gate_sets) s) d
    ),
    upd AS (
        UPDATE weft.job j
        SET gate_set_id = o.gate_set_id, listed = j.listed OR j.state = STATE_READY
        FROM old o
        WHERE j.batch_id = of_batch_id AND j.job_id = o.job_id
        RETURNING
            j.job_id, j.state, j.group_id, j.priority, j.lane_id, j.gate_set_id, j.update_id, o.listed,
            o.is_committed
    ),
    waiting AS (
        UPDATE weft.ready_job q
        SET gate_set_id = c.all_gates
        FROM upd u
        JOIN combined c ON c.s = u.gate_set_id
        WHERE q.batch_id = of_batch_id AND q.job_id = u.job_id AND q.gate_set_id <> 1
    ),
    ranged AS (
        INSERT INTO weft.ready_job (gate_set_id, pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
        SELECT
            CASE
                WHEN v_batch.has_switch AND weft._is_closed(of_batch_id, u.group_id, u.job_id) THEN 1
                ELSE c.all_gates
            END,
            weft._lane_pool(u.lane_id, v_batch.pool_id),
            v_batch.user_id,
            -u.priority,
            of_batch_id,
            u.job_id,
            v_batch.tenant_id,
            u.lane_id
        FROM upd u
        JOIN combined c ON c.s = u.gate_set_id
        WHERE u.state = STATE_READY AND NOT u.listed AND u.is_committed
    ),
    staged AS (  -- their commit lists them
        UPDATE weft.bunch x
        SET n_ranged = x.n_ranged - n.n, n_listed = x.n_listed + n.n
        FROM (
            SELECT u.update_id, y.first_job, count(*)::int AS n
            FROM upd u
            CROSS JOIN LATERAL (
                SELECT z.first_job
                FROM weft.bunch z
                WHERE z.batch_id = of_batch_id AND z.update_id = u.update_id AND z.first_job <= u.job_id
                ORDER BY z.first_job DESC
                LIMIT 1
            ) y
            WHERE u.state = STATE_READY AND NOT u.listed AND NOT u.is_committed
            GROUP BY 1, 2
        ) n
        WHERE x.batch_id = of_batch_id AND x.update_id = n.update_id AND x.first_job = n.first_job
    ),
    places AS (  -- they did not wait for these: no date, so that the limit was not exceeded by them
        INSERT INTO weft.place (batch_id, job_id, gate_id, tenant_id, admitted_at, cost)
        SELECT of_batch_id, u.job_id, m.gate_id, v_batch.tenant_id, '-infinity', m.cost
        FROM upd u
        JOIN weft.gate_member m ON m.gate_set_id = u.gate_set_id
        JOIN weft.gate g ON g.gate_id = m.gate_id
        JOIN weft._gate_kinds() k ON k.kind = g.kind
        WHERE u.state IN (STATE_QUEUED, STATE_CREATING, STATE_RUNNING)
            AND NOT (u.state = STATE_RUNNING AND k.by_date)
        ON CONFLICT DO NOTHING
        RETURNING gate_id, cost
    )
    SELECT (SELECT array_agg(c.all_gates) FROM combined c), array_agg(p.gate_id), array_agg(p.n)
    INTO v_sets, v_gates, v_places
    FROM (SELECT x.gate_id, sum(x.cost) AS n FROM places x GROUP BY 1) p;
    PERFORM weft._move_ranges(ARRAY[of_batch_id]);
    IF v_gates IS NOT NULL THEN
        PERFORM weft._lock_gates(v_gates, true);
        -- As after a limit was lowered: from now on nobody gets a place until there is one.
        UPDATE weft.gate g
        SET n_taken = g.n_taken + t.n, limited_at = clock_timestamp()
        FROM unnest(v_gates, v_places) t (gate_id, n)
        WHERE g.gate_id = t.gate_id;
    END IF;
    PERFORM weft._ring_gates(weft._set_gates(v_sets));
END $$;
