-- commit_update: make an update visible and runnable.
-- Safe to repeat: yes, same answer.
-- Locks: as _before_commit; batch (shared); update; as _make_visible. A cancel or a hold waits for us, or we see it.
-- Plan: as _make_visible.
-- Raises WF101, WF104, WF105 (project), WF202 (jobs or groups are missing), WF204 (cancelled), WF113 (queue is full), WF134 (quota).
-- Owner: weft_tenant.  Granted to: weft_api, weft_system.
CREATE OR REPLACE FUNCTION weft.commit_update(tenant_id int, batch_id bigint, of_update_id int, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (update_id int, first_job int, first_group int, n_jobs int, n_groups int, committed boolean)
LANGUAGE plpgsql
-- Each of some twenty small statements would otherwise be planned longer than it runs.
PLAN_ONCE AS $$
DECLARE
    v_update weft.batch_update; v_group int; v_checks boolean;
BEGIN
    PERFORM weft._check_batch(commit_update.batch_id);
    v_checks := weft._before_commit(commit_update.tenant_id, commit_update.batch_id, of_update_id);
    PERFORM pg_advisory_xact_lock_shared(commit_update.batch_id);
    -- get_update checks the batch again: a deletion may have come first.
    PERFORM FROM weft.get_update(commit_update.tenant_id, commit_update.batch_id, of_update_id);
    SELECT u.* INTO v_update FROM weft.batch_update u
    WHERE u.batch_id = commit_update.batch_id AND u.update_id = of_update_id FOR UPDATE;
    IF v_update.committed_at IS NULL THEN
        PERFORM weft._check_spends(commit_update.batch_id, v_update.user_id);
        PERFORM weft._check_complete(commit_update.batch_id, of_update_id);
        PERFORM weft._at_commit(commit_update.tenant_id, v_update, v_checks AND v_update.n_jobs > 0);
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
        PERFORM weft._make_visible(v_update, false, commit_update.at);
    END IF;
    RETURN QUERY SELECT v_update.update_id, v_update.first_job, v_update.first_group, v_update.n_jobs, v_update.n_groups, true;
END $$;
