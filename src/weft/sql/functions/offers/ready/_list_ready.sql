-- _list_ready: put jobs that are ready (again) into ready_job, before their gates if they have some. Jobs
--   that were cancelled while they ran, alone or with their group, end here, also those that are blocked;
--   those that _before_offer names are parked; jobs of held groups are noted for it. Announces.
-- Safe to repeat: yes.
-- Locks: job (by the caller); deadline (nobody else); as _end_waiting; as _pass_gates; as _announce.
-- Plan: job, batch, queue and lane by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._list_ready(
    batch_ids bigint[], job_ids int[], states smallint[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_cancelled record;
    v_pools int[];
    v_users int[];
    v_lanes int[];
    v_sets int[];
    v_has_switch boolean;
    v_parked bigint[];
BEGIN
    v_parked := weft._before_offer(
        _list_ready.batch_ids, _list_ready.job_ids, _list_ready.states, _list_ready.at
    );
    SELECT bool_or(EXISTS (SELECT FROM weft._switches(d.x)))
    INTO v_has_switch
    FROM (SELECT DISTINCT x FROM unnest(_list_ready.batch_ids) x) d;
    WITH ins AS (
        INSERT INTO weft.ready_job (gate_set_id, pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
        SELECT
            CASE
                WHEN t.n = ANY (v_parked) THEN 1
                WHEN b.gated THEN weft._job_gates(b.gate_set_id, j.gate_set_id)
                ELSE 0
            END,
            coalesce(l.pool_id, q.pool_id),
            b.user_id,
            -j.priority,
            j.batch_id,
            j.job_id,
            j.tenant_id,
            j.lane_id
        FROM unnest(_list_ready.batch_ids, _list_ready.job_ids, _list_ready.states)
            WITH ORDINALITY t (b, j, s, n)
        JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.j
        JOIN weft.batch b ON b.batch_id = t.b
        JOIN weft.queue q ON q.queue_id = b.queue_id
        LEFT JOIN weft.lane l ON l.lane_id = j.lane_id
            AND j.lane_id <> 0  -- as _lane_pool
        WHERE t.s = STATE_READY AND j.listed
        -- Only this index is searched; each of the others has its columns, too.
        ON CONFLICT (batch_id, job_id) DO NOTHING
        RETURNING gate_set_id, pool_id, user_id, lane_id, batch_id, job_id, tenant_id
    ),
    held AS MATERIALIZED (
        SELECT i.batch_id, i.job_id, i.tenant_id
        FROM ins i
        JOIN weft.job j ON j.batch_id = i.batch_id AND j.job_id = i.job_id
        WHERE v_has_switch AND weft._is_closed(i.batch_id, j.group_id, i.job_id)
    ),
    noted AS (
        INSERT INTO weft.held_ready (batch_id, job_id, tenant_id)
        SELECT h.batch_id, h.job_id, h.tenant_id
        FROM held h
        ON CONFLICT DO NOTHING
    )
    SELECT
        array_agg(d.pool_id),
        array_agg(d.user_id),
        array_agg(d.lane_id),
        array_agg(DISTINCT d.gate_set_id) FILTER (WHERE d.gate_set_id > 1)
    INTO v_pools, v_users, v_lanes, v_sets
    FROM (
        SELECT DISTINCT i.pool_id, i.user_id, i.lane_id, i.gate_set_id
        FROM ins i
        WHERE NOT v_has_switch OR (i.batch_id, i.job_id) NOT IN (SELECT h.batch_id, h.job_id FROM held h)
    ) d;
    -- These statements began after the caller locked the job's row, so they see a cancel that held the row
    -- earlier (invariant 6). A cancel of its group that they do not see yet is swept later, and the sweep
    -- waits for the caller.
    FOR v_cancelled IN
        SELECT c.batch_id, array_agg(c.job_id) AS jobs
        FROM unnest(_list_ready.batch_ids, _list_ready.job_ids, _list_ready.states) t (b, j, s)
        CROSS JOIN LATERAL (
            SELECT x.batch_id, x.job_id
            FROM weft.job_cancel x
            WHERE x.batch_id = t.b AND x.job_id = t.j AND NOT x.late
            OFFSET 0
        ) c
        WHERE t.s IN (STATE_READY, STATE_BLOCKED)
        GROUP BY c.batch_id
        ORDER BY c.batch_id
    LOOP
        INSERT INTO weft.job_change (batch_id, job_id, tenant_id, at, from_state, to_state, actor, message)
        SELECT
            c.batch_id,
            c.job_id,
            c.tenant_id,
            _list_ready.at,
            j.state,
            STATE_CANCELLED,
            c.actor,
            'cancelled by its user'
        FROM weft.job_cancel c
        JOIN weft.job j
        USING (batch_id, job_id)
        WHERE c.batch_id = v_cancelled.batch_id AND c.job_id = ANY (v_cancelled.jobs);
        PERFORM weft._end_waiting(v_cancelled.batch_id, v_cancelled.jobs, _list_ready.at);
    END LOOP;
    IF EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = ANY (_list_ready.batch_ids)) THEN
        FOR v_cancelled IN
            SELECT t.b AS batch_id, array_agg(t.j) AS jobs
            FROM unnest(_list_ready.batch_ids, _list_ready.job_ids, _list_ready.states) t (b, j, s)
            JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.j
            WHERE t.s IN (STATE_READY, STATE_BLOCKED) AND weft._is_cancelled(t.b, j.group_id, j.always_run)
            GROUP BY t.b
            ORDER BY t.b
        LOOP
            PERFORM weft._end_waiting(v_cancelled.batch_id, v_cancelled.jobs, _list_ready.at);
        END LOOP;
    END IF;
    PERFORM weft._pass_gates(weft._set_gates(v_sets), true) WHERE v_sets IS NOT NULL;
    PERFORM weft._announce(v_pools, v_users, v_lanes);  -- NULL: none
END $$;
