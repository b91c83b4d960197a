-- _ask_for_more: give jobs that are ready again or blocked, and have rules for it (bit 21 of retry_on), the
--   shape that they ask for after the attempts they had. Where nothing in their pool can ever hold that, it
--   is the one closest to it; they never get less than they had.
-- Safe to repeat: yes.
-- For: _after_ends, _after_retry, before the jobs are listed.
-- Locks: job (by the caller); as _gate_set_id.
-- Plan: jobs, rules and attempts by key; shapes by their amounts; as _can_hold for each shape.
-- A time limit is a function of the attempts (list_time_limits); of the shape it changes the class.
-- All these shapes were made with the job (ShapeBook), because an end must not wait for a new lane.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._ask_for_more(
    batch_ids bigint[], job_ids int[], states smallint[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT
        FROM unnest(batch_ids, job_ids) t (b, j)
        CROSS JOIN LATERAL (
            SELECT x.retry_on FROM weft.job x WHERE x.batch_id = t.b AND x.job_id = t.j OFFSET 0
        ) j
        WHERE j.retry_on & 2097152 <> 0
    ) THEN
        RETURN;
    END IF;
    WITH own AS MATERIALIZED (
        SELECT
            j.batch_id, j.job_id, j.tenant_id, j.group_id, j.attempt, j.shape_id,
            t.s AS state,
            h.cpu_m, h.memory_mib, h.storage_mib, h.gpu, h.countables, q.pool_id, r.rules,
            weft._more_steps(r.rules, t.b, t.j, j.attempt) AS steps,
            weft._more_steps(r.rules, t.b, t.j, j.attempt - 1) AS steps_before
        FROM unnest(batch_ids, job_ids, states) t (b, j, s)
        CROSS JOIN LATERAL (SELECT x.* FROM weft.job x WHERE x.batch_id = t.b AND x.job_id = t.j OFFSET 0) j
        CROSS JOIN LATERAL (SELECT x.* FROM weft.shape x WHERE x.shape_id = j.shape_id OFFSET 0) h
        CROSS JOIN LATERAL (
            SELECT y.pool_id
            FROM weft.batch x
            JOIN weft.queue y
            USING (queue_id)
            WHERE x.batch_id = t.b
            OFFSET 0
        ) q
        CROSS JOIN LATERAL (SELECT weft._rare_field(t.b, t.j, j.spec_first, 'more') AS rules OFFSET 0) r
        WHERE t.s IN (STATE_READY, STATE_BLOCKED) AND j.retry_on & 2097152 <> 0
    ),
    grown AS MATERIALIZED (
        SELECT
            o.*,
            n.shape_id AS new_shape,
            n.lane_id AS new_lane,
            n.cpu_m AS new_cpu_m,
            n.memory_mib AS new_memory_mib,
            concat_ws(
                '; ',
                CASE
                    WHEN weft._more_time(o.rules, o.steps) <> weft._more_time(o.rules, o.steps_before)
                        THEN format(
                            'a time limit of %s s instead of %s s',
                            trim_scale(weft._more_time(o.rules, o.steps) / 1000.0),
                            trim_scale(weft._more_time(o.rules, o.steps_before) / 1000.0)
                        )
                END,
                nullif(
                    weft._more_text(
                        o.shape_id,
                        coalesce(n.shape_id, o.shape_id),
                        n.steps IS NOT DISTINCT FROM o.steps,
                        weft._stays_by_rule(o.rules, o.steps)
                            AND NOT weft._stays_by_rule(o.rules, o.steps_before)
                    ),
                    ''
                )
            ) AS message
        FROM own o
        LEFT JOIN LATERAL (
            SELECT x.*, m.steps
            FROM weft._more_asks(
                o.rules,
                o.steps,
                jsonb_build_object(
                    'cpu_m', o.cpu_m, 'memory_mib', o.memory_mib, 'storage_mib', o.storage_mib
                ),
                o.countables
            ) m
            JOIN weft.shape x ON x.cpu_m = (m.sizes ->> 'cpu_m')::bigint
                AND x.memory_mib = (m.sizes ->> 'memory_mib')::bigint
                AND x.storage_mib = (m.sizes ->> 'storage_mib')::bigint
                AND x.gpu = o.gpu
                AND x.countables = m.words
            WHERE x.cpu_m >= o.cpu_m
                AND x.memory_mib >= o.memory_mib
                AND x.storage_mib >= o.storage_mib
                AND weft._can_hold(weft._lane_pool(x.lane_id, o.pool_id), x.lane_id, x.cpu_m, x.memory_mib)
            ORDER BY (SELECT sum(s) FROM unnest(m.steps) s) DESC, m.steps DESC
            LIMIT 1
        ) n ON true
        WHERE n.shape_id <> o.shape_id OR o.steps <> o.steps_before
    ),
    upd AS (
        UPDATE weft.job j
        SET
            shape_id = g.new_shape,
            lane_id = g.new_lane,
            cpu_m = g.new_cpu_m,
            memory_mib = g.new_memory_mib,
            gate_set_id = CASE
                WHEN g.new_cpu_m = g.cpu_m THEN j.gate_set_id
                ELSE (  -- as many more places at gates of running cores
                    SELECT weft._gate_set_id(
                        array_agg(m.gate_id),
                        array_agg(CASE WHEN k.cost = 'cpu' THEN g.new_cpu_m::int ELSE m.cost END)
                    )
                    FROM weft.gate_member m
                    JOIN weft.gate a
                    USING (gate_id)
                    LEFT JOIN weft._gate_kinds() k ON k.kind = a.kind
                    WHERE m.gate_set_id = j.gate_set_id
                    HAVING count(*) > 0
                )
            END
        FROM grown g
        WHERE j.batch_id = g.batch_id AND j.job_id = g.job_id AND g.new_shape <> g.shape_id
    ),
    told AS (
        INSERT INTO weft.job_change (
            batch_id, job_id, tenant_id, at, from_state, to_state, actor, subtype, message
        )
        SELECT
            g.batch_id, g.job_id, g.tenant_id, _ask_for_more.at, g.state, g.state, 'weft', 'more', g.message
        FROM grown g
        WHERE g.message <> ''
    )
    INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_ready, n_blocked)
    SELECT
        g.tenant_id,
        g.batch_id,
        g.group_id,
        d.shape_id,
        weft._shape_pool(d.shape_id, g.pool_id),
        coalesce(sum(d.n) FILTER (WHERE g.state = STATE_READY), 0),
        coalesce(sum(d.n) FILTER (WHERE g.state = STATE_BLOCKED), 0)
    FROM grown g
    CROSS JOIN LATERAL (VALUES (g.shape_id, -1), (g.new_shape, 1)) d (shape_id, n)
    WHERE g.new_shape <> g.shape_id
    GROUP BY g.tenant_id, g.batch_id, g.group_id, d.shape_id, g.pool_id;
END $$;
