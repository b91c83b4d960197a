-- _end_waiting: end waiting jobs of one batch as cancelled, or as errors of a kind; their children are left
--   to the sweep. With `ends_well` they end well.
-- Safe to repeat: yes, only waiting jobs are changed.
-- Returns: how many it ended.
-- Locks: job (by the caller, or here in key order); ready_job (with the job); place (with the job).
-- Plan: jobs by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_waiting(
    of_batch_id bigint,
    of_job_ids int[],
    at timestamptz,
    error_kind text DEFAULT NULL,
    error_message text DEFAULT NULL,
    actor text DEFAULT 'weft',
    ends_well boolean DEFAULT false
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_tid tid[];
    v_state smallint[];
    v_listed int[];
    v_job int[];
    v_tenant int;
    v_edges boolean;
    v_pool int;
    v_gated boolean;
    v_set int;
    v_to smallint := CASE
        WHEN ends_well THEN STATE_SUCCESS
        WHEN error_kind IS NOT NULL THEN STATE_ERROR
        ELSE STATE_CANCELLED
    END;
BEGIN
    SELECT
        array_agg(l.tid),
        array_agg(l.state),
        array_agg(l.job_id) FILTER (WHERE l.listed AND l.state = STATE_READY)
    INTO v_tid, v_state, v_listed
    FROM (SELECT x FROM unnest(of_job_ids) x ORDER BY 1) d
    CROSS JOIN LATERAL (
        -- OFFSET 0: the state is looked at after the row was locked, so a job that becomes ready again
        -- meanwhile is found.
        SELECT
            j.ctid AS tid, j.job_id, j.state, j.listed
        FROM weft.job j
        WHERE j.batch_id = of_batch_id AND j.job_id = d.x
        FOR UPDATE
        OFFSET 0
    ) l
    WHERE l.state IN (STATE_PENDING, STATE_READY, STATE_QUEUED, STATE_CREATING, STATE_BLOCKED);
    IF v_tid IS NULL THEN
        RETURN 0;
    END IF;
    -- After the rows were locked: a transaction that adds the first edge to one of them holds its row until
    -- it commits (_lock_parents).
    SELECT b.tenant_id, b.has_edges, q.pool_id, b.gated, b.gate_set_id
    INTO v_tenant, v_edges, v_pool, v_gated, v_set
    FROM weft.batch b
    JOIN weft.queue q
    USING (queue_id)
    WHERE b.batch_id = of_batch_id;
    IF v_listed IS NOT NULL THEN
        DELETE FROM weft.ready_job q WHERE q.batch_id = of_batch_id AND q.job_id = ANY (v_listed);
    END IF;
    IF STATE_BLOCKED = ANY (v_state) THEN
        WITH gone AS (
            DELETE FROM weft.blocked_job k
            WHERE k.batch_id = of_batch_id AND k.job_id = ANY (of_job_ids)
            RETURNING k.condition_id
        )
        INSERT INTO weft.condition_delta (condition_id, tenant_id, n)
        SELECT g.condition_id, v_tenant, -count(*)
        FROM gone g
        WHERE g.condition_id IS NOT NULL
        GROUP BY g.condition_id;
    END IF;
    WITH upd AS (
        UPDATE weft.job j
        SET
            state = v_to,
            cancelled_at = _end_waiting.at,
            ready_at = CASE WHEN o.state > STATE_PENDING THEN j.ready_at END
        FROM unnest(v_tid, v_state) o (tid, state)
        WHERE j.ctid = o.tid  -- locked above, so the rows are where they were
        RETURNING j.job_id, j.group_id, j.shape_id, o.state AS old_state
    ),
    del AS (
        INSERT INTO weft.job_delta (
            tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready, n_queued, n_creating,
            n_blocked, n_cancelled, n_errored, n_succeeded, last_ended_at
        )
        SELECT
            v_tenant, of_batch_id, u.group_id, u.shape_id,
            weft._shape_pool(u.shape_id, v_pool),
            -count(*) FILTER (WHERE u.old_state = STATE_PENDING),
            -count(*) FILTER (WHERE u.old_state = STATE_READY),
            -count(*) FILTER (WHERE u.old_state = STATE_QUEUED),
            -count(*) FILTER (WHERE u.old_state = STATE_CREATING),
            -count(*) FILTER (WHERE u.old_state = STATE_BLOCKED),
            count(*) FILTER (WHERE v_to = STATE_CANCELLED),
            count(*) FILTER (WHERE v_to = STATE_ERROR),
            count(*) FILTER (WHERE v_to = STATE_SUCCESS),
            _end_waiting.at
        FROM upd u
        GROUP BY u.group_id, u.shape_id
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT
            _end_waiting.at,
            v_tenant,
            of_batch_id,
            'jobs.' || (SELECT s.word FROM weft.job_state s WHERE s.state = v_to),
            u.old_state,
            v_to,
            array_agg(u.job_id)
        FROM upd u
        GROUP BY u.old_state
    ),
    change AS (
        INSERT INTO weft.job_change (
            batch_id, job_id, tenant_id, at, from_state, to_state, actor, subtype, message
        )
        SELECT
            of_batch_id, u.job_id, v_tenant, _end_waiting.at, u.old_state, v_to, _end_waiting.actor,
            error_kind, error_message
        FROM upd u
        WHERE error_kind IS NOT NULL
    )
    SELECT array_agg(u.job_id)
    INTO v_job
    FROM upd u;
    IF v_gated THEN
        PERFORM weft._ring_gates(
            weft._set_gates(ARRAY[v_set])
                || weft._free_places(array_fill(of_batch_id, ARRAY[cardinality(v_job)]), v_job)
        );
    END IF;
    IF v_edges THEN
        INSERT INTO weft.cascade (batch_id, job_id, tenant_id)
        SELECT of_batch_id, x, v_tenant
        FROM unnest(v_job) x
        WHERE EXISTS (SELECT FROM weft.edge e WHERE e.batch_id = of_batch_id AND e.parent_id = x)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN cardinality(v_job);
END $$;
