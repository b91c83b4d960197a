-- sweep_cancelled: end waiting jobs of cancelled groups, in one bounded set. Their children are left to settle_children.
--   Running jobs are waited for: an end under way that does not see the cancel may make one ready again. All others see it.
-- Called by: DriverStore.sweep, again and again until it returns 0.   Safe to repeat: yes.
-- Locks: as _check_term; cancel_row (SKIP LOCKED); as _check_epoch; job (in key order); as _end_waiting; as _announce.
--   Jobs that would break the lock order are left to the next call.
-- Plan: by the cursors of group_cancel; jobs by key, only where the group has some.
-- Returns: how many jobs were examined.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.sweep_cancelled(epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp())
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    v_cancel record; v_span record; v_limit bigint; v_running int[]; v_job int[]; v_last int; v_n bigint := 0; v_looked bigint;
    v_high_batch bigint := 0; v_high_job int := 0;
BEGIN
    PERFORM weft._check_term(sweep_cancelled.epoch);
    IF NOT EXISTS (SELECT FROM weft.group_cancel c WHERE NOT c.swept) THEN
        RETURN 0;
    END IF;
    PERFORM weft._check_epoch(sweep_cancelled.epoch);
    FOR v_cancel IN SELECT c.* FROM weft.group_cancel c WHERE NOT c.swept ORDER BY c.cancelled_at LIMIT 100 FOR UPDATE SKIP LOCKED LOOP
        EXIT WHEN v_n >= limit_jobs;
        v_limit := limit_jobs - v_n;
        SELECT s.* INTO v_span FROM weft._next_span(v_cancel.batch_id, v_cancel.group_id, v_cancel.sweep_job) s;
        SELECT array_agg(x.job_id ORDER BY x.job_id) FILTER (WHERE x.hit AND x.state = STATE_RUNNING),
            array_agg(x.job_id ORDER BY x.job_id) FILTER (WHERE x.hit), max(x.job_id), count(*)
        INTO v_running, v_job, v_last, v_looked FROM (
            SELECT j.job_id, j.state, j.state IN (STATE_PENDING, STATE_READY, STATE_QUEUED, STATE_CREATING, STATE_RUNNING, STATE_BLOCKED)
                AND (v_cancel.force OR NOT j.always_run) AND a.ancestor_id IS NOT NULL
                AND u.committed_at IS NOT NULL AS hit
            FROM weft.job j
            LEFT JOIN weft.group_ancestor a ON a.batch_id = j.batch_id AND a.group_id = j.group_id AND a.ancestor_id = v_cancel.group_id
            LEFT JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
            WHERE j.batch_id = v_cancel.batch_id AND j.job_id BETWEEN v_span.first_job AND v_span.last_job
            ORDER BY j.job_id LIMIT v_limit) x;
        CONTINUE WHEN v_n > 0 AND (v_cancel.batch_id, v_job[1]) <= (v_high_batch, v_high_job);
        v_n := v_n + greatest(v_looked, 1);
        IF v_job IS NOT NULL THEN
            v_high_batch := v_cancel.batch_id;
            v_high_job := v_job[cardinality(v_job)];
        END IF;
        PERFORM weft._end_waiting(v_cancel.batch_id, v_running, sweep_cancelled.at);
        PERFORM weft._end_waiting(v_cancel.batch_id, v_job, sweep_cancelled.at);
        -- The numbers of a finished span are not examined again.
        UPDATE weft.group_cancel c SET swept = v_span.last_job IS NULL,
            sweep_job = coalesce(CASE WHEN v_looked < v_limit THEN v_span.last_job ELSE v_last END, c.sweep_job)
        WHERE c.batch_id = v_cancel.batch_id AND c.group_id = v_cancel.group_id;
    END LOOP;
    IF v_n > 0 THEN
        PERFORM weft._announce();
    END IF;
    RETURN v_n;
END $$;
