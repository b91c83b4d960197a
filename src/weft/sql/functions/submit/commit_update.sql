-- commit_update: make an update visible and runnable.
-- Called by: Store.commit_update, Store.submit (api); _commit_copy.   Safe to repeat: yes, same answer.
-- Locks: as _lock_limits; batch (shared); update; job (those with parents in earlier updates); hold_row (those of the batch);
--   as _begin_deadlines; as _pass_gates; as _announce. A cancel or a hold waits for us, or we see it.
-- Plan: sums over bunches, not over jobs; only bunches with edges to earlier updates are walked.
-- Raises WF101, WF104, WF202 (jobs or groups are missing), WF204 (cancelled), WF113 (queue is full).
-- Owner: weft_tenant.  Granted to: weft_api, weft_system.
CREATE OR REPLACE FUNCTION weft.commit_update(tenant_id int, batch_id bigint, of_update_id int, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (update_id int, first_job int, first_group int, n_jobs int, n_groups int, committed boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_update record; v_batch record; v_bunch record; v_n bigint; v_group int;
    v_sets int[]; v_lane int[]; v_has_limit boolean;
BEGIN
    PERFORM weft._as_tenant(commit_update.tenant_id);
    PERFORM weft._check_batch(commit_update.batch_id);
    v_has_limit := EXISTS (SELECT FROM weft.queue q WHERE q.tenant_id = commit_update.tenant_id AND q.max_waiting IS NOT NULL);
    IF v_has_limit THEN
        PERFORM weft._lock_limits(commit_update.tenant_id, ARRAY(
            SELECT DISTINCT s.countables FROM weft.bunch_count c JOIN weft.shape s USING (shape_id)
            WHERE c.batch_id = commit_update.batch_id AND c.update_id = of_update_id), true);
    END IF;
    PERFORM pg_advisory_xact_lock_shared(commit_update.batch_id);
    -- get_update checks the batch again: a deletion may have come first.
    PERFORM FROM weft.get_update(commit_update.tenant_id, commit_update.batch_id, of_update_id);
    SELECT u.* INTO v_update FROM weft.batch_update u
    WHERE u.batch_id = commit_update.batch_id AND u.update_id = of_update_id FOR UPDATE;
    IF v_update.committed_at IS NULL THEN
        PERFORM weft._check_complete(commit_update.batch_id, of_update_id);
        IF v_has_limit THEN
            PERFORM weft._check_waiting(commit_update.tenant_id, commit_update.batch_id, of_update_id);
        END IF;
        FOR v_group IN
            SELECT DISTINCT c.group_id FROM weft.bunch_count c WHERE c.batch_id = commit_update.batch_id AND c.update_id = of_update_id
            UNION SELECT 0
            -- New groups need not have jobs; one cancelled group among them is enough.
            UNION (SELECT a.group_id FROM weft.group_ancestor a JOIN weft.group_cancel k ON k.batch_id = a.batch_id
                AND k.group_id = a.ancestor_id
                   WHERE a.batch_id = commit_update.batch_id
                     AND a.group_id BETWEEN v_update.first_group AND v_update.first_group + v_update.n_groups - 1 LIMIT 1)
        LOOP
            PERFORM weft._check_open(commit_update.batch_id, v_group);
        END LOOP;
        SELECT b.user_id, b.queue_id, b.gated, b.gate_set_id, q.pool_id INTO v_batch FROM weft.batch b JOIN weft.queue q USING (queue_id)
            WHERE b.batch_id = commit_update.batch_id;
        UPDATE weft.batch_update u SET committed_at = commit_update.at
        WHERE u.batch_id = commit_update.batch_id AND u.update_id = of_update_id;

        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready)
        SELECT commit_update.tenant_id, c.batch_id, c.group_id, c.shape_id, weft._shape_pool(c.shape_id, v_batch.pool_id),
            sum(c.n_pending), sum(c.n_ready)
        FROM weft.bunch_count c WHERE c.batch_id = commit_update.batch_id AND c.update_id = of_update_id
        GROUP BY c.batch_id, c.group_id, c.shape_id;

        FOR v_bunch IN
            SELECT x.* FROM weft.bunch x WHERE x.batch_id = commit_update.batch_id AND x.update_id = of_update_id
              AND (x.has_cross OR x.n_listed > 0) ORDER BY x.first_job
        LOOP
            v_sets := v_sets || weft._unstage(commit_update.batch_id, v_bunch.first_job, v_bunch.first_job + v_bunch.n_jobs - 1,
                v_batch.pool_id, commit_update.at);
        END LOOP;
        v_lane := ARRAY(
            SELECT DISTINCT s.lane_id FROM weft.bunch_count c JOIN weft.shape s USING (shape_id)
            WHERE c.batch_id = commit_update.batch_id AND c.update_id = of_update_id);
        PERFORM weft._add_update_ranges(commit_update.batch_id, of_update_id, v_batch.pool_id, v_batch.user_id, v_lane);
        -- Held jobs are not claimed; the sweep parks the new jobs of held groups.
        UPDATE weft.group_hold h SET swept = false, sweep_job = least(h.sweep_job, v_update.first_job - 1)
        WHERE h.batch_id = commit_update.batch_id AND h.released_at IS NULL;
        PERFORM weft._begin_deadlines(commit_update.batch_id, v_update.first_job, v_update.first_job + v_update.n_jobs - 1,
            commit_update.at);
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, trace_id)
        VALUES (commit_update.at, commit_update.tenant_id, commit_update.batch_id, 'update.committed', v_update.trace_id);
        IF v_batch.gated THEN
            -- Fill the first places here, so that small limits start at once; the driver does the rest.
            PERFORM weft._pass_gates(weft._set_gates(v_sets || v_batch.gate_set_id), true, false, 200);
        END IF;
        v_n := greatest(cardinality(v_lane), 1);
        PERFORM weft._announce(ARRAY(SELECT weft._lane_pool(v_lane[n], v_batch.pool_id) FROM generate_series(1, v_n) n ORDER BY n),
            array_fill(v_batch.user_id, ARRAY[v_n::int]), v_lane);
    END IF;
    RETURN QUERY SELECT v_update.update_id, v_update.first_job, v_update.first_group, v_update.n_jobs, v_update.n_groups, true;
END $$;
