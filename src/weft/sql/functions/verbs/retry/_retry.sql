-- _retry: make ended jobs of one batch pending or ready again, and let their waiting children wait for them
--   once more. Attempts keep their rows and numbers; those so far count no more, so each job has all its
--   tries again.
-- Safe to repeat: yes, only jobs that ended without success are changed.
-- Locks: as _before_retry (by the caller); batch (shared, by the caller); job (SKIP LOCKED); as _at_retry;
--   failure_count (SKIP LOCKED); child (SKIP LOCKED); as _may_open_span; as _after_retry; as _add_ranges; as
--   _list_ready.
-- Plan: jobs by key, edges by parent and by child.
-- Jobs whose children are still to be told of their ends are left until they are, and so are those of which
--   another transaction holds a row.
-- Returns: whether it is done; if not, nothing was changed: call again soon.  Raises what _after_retry
--   raises.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._retry(of_batch_id bigint, of_job_ids int[], actor text, at timestamptz)
RETURNS boolean LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_job int[];
    v_old smallint[];
    v_span record;
    v_children int[];
    v_n int;
    v_batch record;
    v_ranged boolean;
    v_ready int[];
BEGIN
    SELECT
        array_agg(l.job_id ORDER BY l.job_id) AS jobs,
        array_agg(l.state ORDER BY l.job_id) AS states,
        bool_or(l.retry_on & 2097152 <> 0) AS may_ask,
        count(*) FILTER (WHERE l.is_plain) AS n_plain,
        min(l.job_id) FILTER (WHERE l.is_plain) AS first_job,
        max(l.job_id) FILTER (WHERE l.is_plain) AS last_job,
        min(l.update_id) AS update_id,
        min(l.lane_id) AS lane_id,
        min(l.update_id) = max(l.update_id) AND min(l.lane_id) = max(l.lane_id) AS is_uniform
    INTO v_span
    FROM (
        SELECT
            j.job_id,
            j.state,
            j.retry_on,
            j.update_id,
            j.lane_id,
            j.priority = 0 AND j.gate_set_id IS NULL AND NOT j.always_run AS is_plain
        FROM weft.job j
        WHERE j.batch_id = of_batch_id AND j.job_id = ANY (of_job_ids) AND j.state > STATE_SUCCESS
        FOR UPDATE SKIP LOCKED
    ) l;
    v_job := v_span.jobs;
    v_old := v_span.states;
    IF cardinality(v_job) IS DISTINCT FROM cardinality(of_job_ids)
        OR EXISTS (SELECT FROM weft.cascade c WHERE c.batch_id = of_batch_id AND c.job_id = ANY (v_job))
    THEN
        RETURN false;
    END IF;
    -- After the rows were locked: whoever adds edges to these jobs holds their rows until it commits
    -- (_lock_parents).
    SELECT
        b.tenant_id,
        b.has_edges,
        q.pool_id,
        EXISTS (SELECT FROM weft.failure_count f WHERE f.batch_id = b.batch_id) AS counts
    INTO v_batch
    FROM weft.batch b
    JOIN weft.queue q
    USING (queue_id)
    WHERE b.batch_id = of_batch_id;
    -- The n-th failure of a group holds its counter and waits for the batch, of which we hold a share.
    IF v_batch.counts
        AND NOT (
            SELECT count(*) = count(l.group_id)
            FROM weft.failure_count f
            LEFT JOIN LATERAL (
                SELECT y.group_id
                FROM weft.failure_count y
                WHERE y.batch_id = f.batch_id AND y.group_id = f.group_id
                FOR UPDATE SKIP LOCKED
            ) l ON true
            WHERE f.batch_id = of_batch_id
        )
    THEN
        RETURN false;
    END IF;
    IF v_batch.has_edges THEN
        SELECT count(*), array_agg(l.job_id) FILTER (WHERE l.state = STATE_PENDING)
        INTO v_n, v_children
        FROM (
            SELECT DISTINCT e.child_id
            FROM unnest(v_job) x
            CROSS JOIN LATERAL (
                SELECT y.child_id FROM weft.edge y WHERE y.batch_id = of_batch_id AND y.parent_id = x OFFSET 0
            ) e
            -- Children that have ended, as these jobs have, count their parents when they are retried:
            -- perhaps 100,000 of one parent.
            CROSS JOIN LATERAL (
                SELECT y.state
                FROM weft.job y
                WHERE y.batch_id = of_batch_id AND y.job_id = e.child_id
                OFFSET 0
            ) c
            WHERE c.state < STATE_SUCCESS
            ORDER BY 1
        ) d
        LEFT JOIN LATERAL (
            SELECT j.job_id, j.state
            FROM weft.job j
            WHERE j.batch_id = of_batch_id AND j.job_id = d.child_id
            FOR UPDATE SKIP LOCKED
        ) l ON true
        HAVING count(*) = count(l.job_id);
        IF v_n IS NULL THEN
            RETURN false;
        END IF;
    END IF;
    PERFORM weft._at_retry(v_batch.tenant_id, of_batch_id, v_job);
    v_ranged := v_span.is_uniform
        AND NOT v_batch.has_edges
        AND NOT v_span.may_ask
        AND weft._may_open_span(of_batch_id, v_span.first_job, v_span.last_job, v_span.n_plain);
    UPDATE weft.job j
    SET
        state = CASE WHEN v_batch.has_edges THEN STATE_PENDING ELSE STATE_READY END,
        cancelled_at = NULL,
        listed = NOT v_ranged OR j.priority <> 0 OR j.gate_set_id IS NOT NULL OR j.always_run,
        n_uncounted = j.attempt,
        n_lost = 0,
        ready_at = CASE WHEN j.bad_parent OR j.ready_at IS NULL THEN _retry.at ELSE j.ready_at END
    WHERE j.batch_id = of_batch_id AND j.job_id = ANY (v_job);
    IF v_batch.has_edges THEN
        PERFORM weft._recount_parents(of_batch_id, v_job || v_children, v_job);
    END IF;
    DELETE FROM weft.job_cancel c WHERE c.batch_id = of_batch_id AND c.job_id = ANY (v_job);
    IF v_batch.counts THEN
        UPDATE weft.failure_count f
        SET n_failures = f.n_failures - c.n
        FROM weft._counted_failures(
            of_batch_id,
            ARRAY(
                SELECT o.job_id
                FROM unnest(v_job, v_old) o (job_id, state)
                WHERE o.state IN (STATE_FAILED, STATE_ERROR)
            )
        ) c
        WHERE f.batch_id = of_batch_id AND f.group_id = c.group_id;
    END IF;
    PERFORM weft._forget_failures(of_batch_id, v_job);
    v_ready := weft._record_retry(of_batch_id, v_job, v_old, v_batch.pool_id, actor, _retry.at);
    PERFORM weft._after_retry(of_batch_id, v_ready, v_span.may_ask, _retry.at);
    IF v_ranged THEN
        PERFORM weft._add_ranges(
            ARRAY[of_batch_id],
            ARRAY[v_span.update_id],
            ARRAY[v_span.lane_id],
            ARRAY[v_span.first_job],
            ARRAY[v_span.last_job]
        );
    END IF;
    IF v_ready <> '{}' THEN
        PERFORM weft._list_ready(
            array_fill(of_batch_id, ARRAY[cardinality(v_ready)]),
            v_ready,
            array_fill(STATE_READY::smallint, ARRAY[cardinality(v_ready)]),
            _retry.at
        );
    END IF;
    RETURN true;
END $$;
