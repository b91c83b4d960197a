-- _move_rows: give jobs that wait another shape, lane and gate set, note it in their history, and list them
--   anew. A job in a range is listed by itself; parked ones stay parked.
-- Safe to repeat: no.
-- For: move_jobs, which has locked them.
-- Locks: job (by the caller); ready_job (by the caller).
-- Plan: both by key.
-- old_shapes, new_shapes, new_lanes: side by side.
-- Returns: the gate sets and the pools in which ready jobs wait now.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._move_rows(
    of_batch_id bigint,
    of_job_ids int[],
    old_shapes int[],
    new_shapes int[],
    new_lanes int[],
    queue_set int,
    actor text,
    OUT sets int[],
    OUT pools int[]
) LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_batch record;
    v_old_pools int[];
BEGIN
    SELECT b.user_id, b.tenant_id, b.gated, b.gate_set_id, q.pool_id
    INTO v_batch
    FROM weft.batch b
    JOIN weft.queue q
    USING (queue_id)
    WHERE b.batch_id = of_batch_id;
    v_old_pools := ARRAY(
        SELECT weft._shape_pool(t.s, v_batch.pool_id)
        FROM unnest(old_shapes) WITH ORDINALITY t (s, n)
        ORDER BY t.n
    );
    WITH old AS MATERIALIZED (
        SELECT j.*
        FROM unnest(of_job_ids) x
        CROSS JOIN LATERAL (
            SELECT
                y.job_id,
                y.group_id,
                y.state,
                y.listed,
                y.gate_set_id,
                array_position(old_shapes, y.shape_id) AS place
            FROM weft.job y
            WHERE y.batch_id = of_batch_id AND y.job_id = x
            OFFSET 0
        ) j
    ),
    own AS MATERIALIZED (
        SELECT d.gate_set_id, weft._moved_gate_set(d.gate_set_id, queue_set) AS new_set
        FROM (SELECT DISTINCT o.gate_set_id FROM old o) d
    ),
    upd AS (
        UPDATE weft.job j
        SET
            shape_id = new_shapes[o.place],
            lane_id = new_lanes[o.place],
            gate_set_id = s.new_set,
            listed = j.listed OR o.state = STATE_READY
        FROM old o
        JOIN own s ON s.gate_set_id IS NOT DISTINCT FROM o.gate_set_id
        WHERE j.batch_id = of_batch_id AND j.job_id = o.job_id
        RETURNING j.job_id, j.group_id, j.state, j.priority, j.gate_set_id, o.place, o.listed
    ),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready)
        SELECT
            v_batch.tenant_id,
            of_batch_id,
            u.group_id,
            d.shape_id,
            d.pool_id,
            d.sign * u.n_pending,
            d.sign * u.n_ready
        FROM (
            SELECT
                x.group_id,
                x.place,
                count(*) FILTER (WHERE x.state = STATE_PENDING) AS n_pending,
                count(*) FILTER (WHERE x.state = STATE_READY) AS n_ready
            FROM upd x
            GROUP BY 1, 2
        ) u
        CROSS JOIN LATERAL (
            VALUES
                (old_shapes[u.place], v_old_pools[u.place], -1),
                (new_shapes[u.place], weft._lane_pool(new_lanes[u.place], v_batch.pool_id), 1)
        ) d (shape_id, pool_id, sign)
    ),
    told AS (
        INSERT INTO weft.job_change (
            batch_id, job_id, tenant_id, at, from_state, to_state, actor, subtype, message
        )
        SELECT
            of_batch_id, u.job_id, v_batch.tenant_id, clock_timestamp(), u.state, u.state, _move_rows.actor,
            'moved', q.message
        FROM upd u JOIN (
            SELECT
                t.place,
                format(
                    'from queue %s to %s',
                    coalesce(o.countables ->> 'queue', 'default'),
                    coalesce(n.countables ->> 'queue', 'default')
                ) AS message
            FROM unnest(old_shapes, new_shapes) WITH ORDINALITY t (old, new, place)
            JOIN weft.shape o ON o.shape_id = t.old
            JOIN weft.shape n ON n.shape_id = t.new
        ) q
        USING (place)
    ),
    -- In place, as in _set_priority.
    parked AS (
        UPDATE weft.ready_job q
        SET lane_id = new_lanes[u.place], pool_id = weft._lane_pool(new_lanes[u.place], v_batch.pool_id)
        FROM upd u
        WHERE q.batch_id = of_batch_id AND q.job_id = u.job_id AND q.gate_set_id = 1
        RETURNING q.job_id
    ),
    gone AS (
        DELETE FROM weft.ready_job q
        USING upd u
        WHERE q.batch_id = of_batch_id AND q.job_id = u.job_id AND q.gate_set_id <> 1
    )
    SELECT
        array_agg(u.job_id),
        array_agg(CASE WHEN v_batch.gated THEN weft._job_gates(v_batch.gate_set_id, u.gate_set_id) ELSE 0 END)
    INTO of_job_ids, sets
    FROM upd u
    LEFT JOIN parked p ON p.job_id = u.job_id
    WHERE u.state = STATE_READY AND p.job_id IS NULL;
    WITH ins AS (
        INSERT INTO weft.ready_job (gate_set_id, pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
        SELECT
            t.s,
            weft._lane_pool(j.lane_id, v_batch.pool_id),
            v_batch.user_id,
            -j.priority,
            of_batch_id,
            t.j,
            v_batch.tenant_id,
            j.lane_id
        FROM unnest(of_job_ids, sets) t (j, s)
        CROSS JOIN LATERAL (
            SELECT y.* FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = t.j OFFSET 0
        ) j
        RETURNING gate_set_id, pool_id
    )
    SELECT
        coalesce(array_agg(DISTINCT i.gate_set_id) FILTER (WHERE i.gate_set_id > 1), '{}'),
        coalesce(array_agg(DISTINCT i.pool_id), '{}')
    INTO sets, pools
    FROM ins i;
    IF EXISTS (SELECT FROM weft._switches(of_batch_id)) THEN
        -- Held ones are parked by the sweep (see _list_ready).
        INSERT INTO weft.held_ready (batch_id, job_id, tenant_id)
        SELECT of_batch_id, j.job_id, v_batch.tenant_id
        FROM unnest(of_job_ids) x
        CROSS JOIN LATERAL (
            SELECT y.job_id, y.group_id
            FROM weft.job y
            WHERE y.batch_id = of_batch_id AND y.job_id = x
            OFFSET 0
        ) j
        WHERE weft._is_closed(of_batch_id, j.group_id, j.job_id)
        ON CONFLICT DO NOTHING;
    END IF;
END $$;
