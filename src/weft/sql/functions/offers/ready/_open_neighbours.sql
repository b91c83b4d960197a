-- _open_neighbours: tell the next children of a parent that succeeded, if they are consecutive and most
--   become ready: one walk over their rows and one range for claimers (ADR 7, ADR 14).
-- Safe to repeat: no; the caller moves the parent's cursor.
-- For: settle_children, before it does anything else.
-- Locks: batch (shared, tried); child (in key order); as _end_parents (the same rows); as _add_ranges; as
--   _list_ready. Children found bad only after they were examined are locked after the others, by key again:
--   PostgreSQL resolves such a deadlock, and the store repeats the call.
-- Plan: edges of the parent from the cursor on; jobs by key from the first child to the last one.
-- A child that waits for more parents is told in the same walk. Crowded, shares and those with a bad parent
--   are left to _end_parents.
-- Returns: how many children were told (0 if they do not qualify), and the last of them.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._open_neighbours(
    of_batch_id bigint,
    of_job_id int,
    after_child int,
    limit_jobs int,
    at timestamptz,
    OUT n_told int,
    OUT last_child int
) LANGUAGE plpgsql SET enable_bitmapscan = off AS $$
DECLARE
    v_first int;
    v_found record;
    v_n int;
    v_ready int[];
    v_states smallint[];
    v_left int[];
    v_shares boolean;
BEGIN
    SELECT count(*), min(x.child_id), max(x.child_id), bool_or(x.need < 0)
    INTO v_n, v_first, last_child, v_shares
    FROM (
        SELECT e.child_id, e.need
        FROM weft.edge e
        WHERE e.batch_id = of_batch_id
            AND e.parent_id = of_job_id
            AND e.child_id > after_child
            AND e.need IS DISTINCT FROM NEED_TOLD
        ORDER BY e.child_id
        LIMIT limit_jobs
    ) x;
    n_told := 0;
    IF v_shares OR v_n < 100 OR last_child - v_first >= v_n THEN
        RETURN;
    END IF;
    SELECT
        count(*) FILTER (
            WHERE j.state = STATE_PENDING
                AND j.n_unfinished = 1
                AND NOT j.staged
                AND j.priority = 0
                AND NOT j.always_run
                AND j.gate_set_id IS NULL
        ) AS n_opening,
        bool_or(j.crowded OR j.bad_parent) AS is_special,
        min(j.update_id) AS update_id,
        max(j.update_id) AS last_update_id,
        min(j.lane_id) AS lane_id,
        max(j.lane_id) AS last_lane_id
    INTO v_found
    FROM weft.job j
    WHERE j.batch_id = of_batch_id AND j.job_id BETWEEN v_first AND last_child;
    IF v_found.n_opening * 2 < v_n
        OR v_found.is_special
        OR v_found.update_id <> v_found.last_update_id
        OR v_found.lane_id <> v_found.last_lane_id
        OR EXISTS (SELECT FROM weft.runnable r WHERE r.batch_id = of_batch_id AND r.first_job = v_first)
        OR weft._may_open(ARRAY[of_batch_id]) IS NULL
    THEN
        RETURN;
    END IF;
    WITH upd AS (
        UPDATE weft.job j
        SET
            n_unfinished = j.n_unfinished - 1,
            listed = NOT (
                j.state = STATE_PENDING
                    AND j.n_unfinished = 1
                    AND NOT j.staged
                    AND j.priority = 0
                    AND NOT j.always_run
                    AND j.gate_set_id IS NULL
            ),
            state = CASE
                WHEN j.state = STATE_PENDING AND j.n_unfinished = 1 AND NOT j.staged THEN STATE_READY
                ELSE j.state
            END,
            ready_at = CASE
                WHEN j.state = STATE_PENDING THEN greatest(j.ready_at, _open_neighbours.at)
                ELSE j.ready_at
            END
        WHERE j.batch_id = of_batch_id
            AND j.job_id BETWEEN v_first AND last_child
            AND NOT (j.crowded OR j.bad_parent)
        RETURNING j.job_id, j.tenant_id, j.group_id, j.shape_id, j.state, j.listed
    ),
    -- Jobs with an unfinished parent were not ready.
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready)
        SELECT
            u.tenant_id,
            of_batch_id,
            u.group_id,
            u.shape_id,
            weft._shape_pool(u.shape_id, q.pool_id),
            -u.n,
            u.n
        FROM (
            SELECT tenant_id, group_id, shape_id, count(*) AS n
            FROM upd
            WHERE state = STATE_READY
            GROUP BY 1, 2, 3
        ) u
        JOIN weft.batch b ON b.batch_id = of_batch_id
        JOIN weft.queue q ON q.queue_id = b.queue_id
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT
            _open_neighbours.at,
            u.tenant_id,
            of_batch_id,
            'jobs.ready',
            STATE_PENDING,
            STATE_READY,
            array_agg(u.job_id)
        FROM upd u
        WHERE u.state = STATE_READY
        GROUP BY u.tenant_id
    )
    SELECT
        count(*),
        array_agg(u.job_id) FILTER (WHERE u.state = STATE_READY AND u.listed),
        CASE WHEN count(*) < v_n THEN array_agg(u.job_id) END
    INTO n_told, v_ready, v_left
    FROM upd u;
    IF n_told < v_n THEN
        SELECT array_agg(x)
        INTO v_left
        FROM generate_series(v_first, last_child) x
        WHERE x <> ALL (coalesce(v_left, '{}'));
        PERFORM weft._leave_children(e.ended_batches, e.ended_jobs)
        FROM weft._end_parents(
            array_fill(of_batch_id, ARRAY[cardinality(v_left)]),
            v_left,
            array_fill(true, ARRAY[cardinality(v_left)]),
            false,
            false,
            _open_neighbours.at
        ) e;
        n_told := v_n;
    END IF;
    PERFORM weft._add_ranges(
        ARRAY[of_batch_id],
        ARRAY[v_found.update_id],
        ARRAY[v_found.lane_id],
        ARRAY[v_first],
        ARRAY[last_child]
    );
    IF v_ready IS NOT NULL THEN
        PERFORM weft._list_ready(
            array_fill(of_batch_id, ARRAY[cardinality(v_ready)]),
            v_ready,
            array_fill(STATE_READY::smallint, ARRAY[cardinality(v_ready)]),
            _open_neighbours.at
        );
    END IF;
END $$;
