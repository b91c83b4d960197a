-- _set_priority: change the priority of jobs that have not ended. Ready jobs move to their new rank, or are
--   listed if a range holds them; parked jobs and jobs before gates stay there; offers of queued ones are
--   withdrawn, to go out in their turn. For running jobs it counts from their next attempt, for pending jobs
--   once they are ready.
-- Safe to repeat: yes.
-- For: edit_job, set_priorities, which announce.
-- Locks: batch (shared, by the caller); job (by the caller); as _unqueue_jobs; ready_job (in key order); as
--   _pass_gates; as _announce. A hold waits or is seen.
-- Plan: jobs and ready_job by key.
-- Returns: the jobs that had another priority.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._set_priority(of_batch_id bigint, of_job_ids int[], new_priority smallint)
RETURNS int[] LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_batch record;
    v_job int[];
    v_ranged int[];
    v_ranged_lanes int[];
    v_sets int[];
    v_new record;
BEGIN
    SELECT
        b.user_id,
        b.tenant_id,
        b.gated,
        b.gate_set_id,
        q.pool_id,
        EXISTS (SELECT FROM weft._switches(b.batch_id)) AS has_switch,
        EXISTS (SELECT FROM weft.transport_offer o WHERE o.batch_id = b.batch_id AND o.attempt IS NULL) AS
            travels
    INTO v_batch
    FROM weft.batch b
    JOIN weft.queue q
    USING (queue_id)
    WHERE b.batch_id = of_batch_id;
    IF v_batch.travels THEN
        SELECT n.*
        INTO v_new
        FROM weft._unqueue_jobs(
            array_fill(of_batch_id, ARRAY[cardinality(of_job_ids)]),
            ARRAY(
                SELECT CASE WHEN j.priority <> new_priority THEN x END
                FROM unnest(of_job_ids) x
                CROSS JOIN LATERAL (
                    SELECT y.priority FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = x OFFSET 0
                ) j
            ),
            clock_timestamp()
        ) n;
    END IF;
    -- A release lists parked jobs without their rows; others leave these rows alone while we have the jobs'.
    PERFORM
    FROM weft.ready_job q
    WHERE q.batch_id = of_batch_id AND q.job_id = ANY (of_job_ids)
    ORDER BY q.job_id
    FOR UPDATE;
    WITH old AS MATERIALIZED (
        SELECT j.job_id, j.state = STATE_READY AND NOT j.listed AS is_ranged
        FROM unnest(of_job_ids) x
        CROSS JOIN LATERAL (
            SELECT y.*
            FROM weft.job y
            WHERE y.batch_id = of_batch_id
                AND y.job_id = x
                AND y.state < STATE_SUCCESS
                AND y.priority <> new_priority
            OFFSET 0
        ) j
    ),
    upd AS (
        UPDATE weft.job j
        SET priority = new_priority, listed = j.listed OR o.is_ranged
        FROM old o
        WHERE j.batch_id = of_batch_id AND j.job_id = o.job_id
        RETURNING j.job_id, j.lane_id, o.is_ranged
    )
    SELECT
        array_agg(u.job_id ORDER BY u.job_id),
        array_agg(u.job_id) FILTER (WHERE u.is_ranged),
        array_agg(u.lane_id) FILTER (WHERE u.is_ranged)
    INTO v_job, v_ranged, v_ranged_lanes
    FROM upd u;
    IF v_job IS NULL THEN
        RETURN '{}';
    END IF;
    UPDATE weft.ready_job q
    SET rank = -new_priority
    WHERE q.batch_id = of_batch_id AND q.job_id = ANY (v_job) AND q.gate_set_id = 1;
    -- New rows, so that no claim that began before takes one at a rank that it has no more, not even if it
    -- was changed to and fro.
    -- Whoever lists parked jobs waits for changed rows, though, and would miss new ones.
    WITH gone AS (
        DELETE FROM weft.ready_job q
        WHERE q.batch_id = of_batch_id AND q.job_id = ANY (v_job) AND q.gate_set_id <> 1
        RETURNING q.gate_set_id, q.pool_id, q.user_id, q.job_id, q.lane_id
    ),
    ins AS (
        INSERT INTO weft.ready_job (gate_set_id, pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
        SELECT
            g.gate_set_id,
            g.pool_id,
            g.user_id,
            -new_priority,
            of_batch_id,
            g.job_id,
            v_batch.tenant_id,
            g.lane_id
        FROM gone g
        UNION ALL
        -- Of jobs with gates of their own none is in a range.
        SELECT
            v_batch.gate_set_id,
            weft._lane_pool(r.l, v_batch.pool_id),
            v_batch.user_id,
            -new_priority,
            of_batch_id,
            r.j,
            v_batch.tenant_id,
            r.l
        FROM unnest(v_ranged, v_ranged_lanes) r (j, l)
        RETURNING gate_set_id
    )
    SELECT array_agg(DISTINCT i.gate_set_id)
    INTO v_sets
    FROM ins i;
    IF v_batch.has_switch THEN
        -- Held ones are parked by the sweep (see _list_ready).
        INSERT INTO weft.held_ready (batch_id, job_id, tenant_id)
        SELECT of_batch_id, j.job_id, v_batch.tenant_id
        FROM unnest(v_ranged) x
        CROSS JOIN LATERAL (
            SELECT y.job_id, y.group_id
            FROM weft.job y
            WHERE y.batch_id = of_batch_id AND y.job_id = x
            OFFSET 0
        ) j
        WHERE weft._is_closed(of_batch_id, j.group_id, j.job_id)
        ON CONFLICT DO NOTHING;
    END IF;
    IF v_batch.gated THEN
        -- An admitted job may now come after a waiting one.
        PERFORM weft._pass_gates(weft._set_gates(v_sets || v_batch.gate_set_id), true);
    END IF;
    IF v_batch.travels THEN
        PERFORM weft._announce(v_new.pools, v_new.users, v_new.lanes);
    END IF;
    RETURN v_job;
END $$;
