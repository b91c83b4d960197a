-- submit: create a batch with one committed update, or add such an update to a batch. One call, so a small
--   submission waits only once.
-- Safe to repeat: yes with an idempotency key; same key and digest give the same answer.
-- Locks: as _before_submit; as _create_batch; as create_update; as add_groups; as _lock_for_bunch; as
--   _add_bunch; as commit_update (the same queues, its own jobs).
-- Plan: theirs.
-- Arguments: of_batch_id NULL: a new batch, as _create_batch takes it; otherwise `batch` is ignored. `groups`
--   as add_groups, NULL: none; `jobs` as add_jobs, new_jobs 0: none.
-- Returns: what was reserved; added_at NULL: by an earlier call.
-- Raises what _create_batch, create_update, add_groups, add_jobs,
--   commit_update raise.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.submit(
    tenant_id int,
    user_id int,
    of_batch_id bigint,
    batch jsonb,
    groups weft.group_columns,
    new_jobs int,
    jobs weft.job_columns,
    depth_max int,
    groups_max int,
    trace_id text,
    idempotency_key text,
    digest bytea,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    batch_id bigint,
    update_id int,
    first_job int,
    first_group int,
    n_jobs int,
    n_groups int,
    committed boolean,
    added_at timestamptz
) LANGUAGE plpgsql
    -- One job would otherwise be planned longer than it is added: all that is called here keeps its plans.
    PLAN_ONCE AS $$
DECLARE
    v_new record;
    v_update weft.batch_update;
    v_bunch weft.bunch;
    v_before record;
    v_is_new_batch boolean := of_batch_id IS NULL;
    v_done boolean;
    v_groups int := coalesce(cardinality(groups.group_ids), 0);
BEGIN
    IF new_jobs > 0 OR v_is_new_batch THEN
        -- Before the batch's row, which others want that hold this lock.
        v_done := weft._as_tenant(submit.tenant_id) IS NULL;
        v_before := weft._before_submit(
            submit.tenant_id,
            CASE WHEN v_is_new_batch THEN submit.user_id END,
            of_batch_id,
            CASE WHEN new_jobs > 0 THEN jobs.shape_countables END,
            true
        );
    END IF;
    IF v_is_new_batch THEN
        SELECT b.*
        INTO v_new
        FROM weft._create_batch(
            submit.tenant_id, submit.user_id, batch, submit.trace_id, submit.idempotency_key, submit.digest,
            submit.at, new_jobs, v_groups
        ) b;
        IF NOT v_new.is_new THEN
            IF batch ->> 'unique_by' IS NOT NULL
                AND NOT EXISTS (SELECT FROM weft.batch_update u WHERE u.batch_id = v_new.batch_id)
            THEN
                -- It has the key, and its jobs are still to come.
                RETURN QUERY
                SELECT v_new.batch_id, NULL::int, NULL::int, NULL::int, 0, 0, false, NULL::timestamptz;
                RETURN;
            END IF;
            RETURN QUERY
            SELECT v_new.batch_id, u.*, NULL::timestamptz
            FROM weft.get_update(submit.tenant_id, v_new.batch_id, 1) u;
            RETURN;
        END IF;
        -- Nobody else sees the batch before the commit: there is nothing to wait for, and no cancel, hold or
        -- deletion of it.
        -- So its update is written once, unless it is filled by what takes open ones only, or counted by
        -- quotas.
        v_update := weft._reserve_update(
            submit.tenant_id, v_new.batch_id, 1, 1, 1, submit.user_id, new_jobs, v_groups, submit.trace_id,
            NULL, submit.digest, groups_max, submit.at,
            CASE WHEN v_groups = 0 AND NOT v_before.checks THEN submit.at END
        );
    ELSE
        SELECT u.*
        INTO v_new
        FROM weft.create_update(
            submit.tenant_id, submit.user_id, of_batch_id, new_jobs, v_groups, submit.trace_id,
            submit.idempotency_key, submit.digest, groups_max, submit.at
        ) u;
        IF NOT v_new.is_new THEN
            RETURN QUERY
            SELECT
                of_batch_id,
                v_new.update_id,
                v_new.first_job,
                v_new.first_group,
                v_new.n_jobs,
                v_new.n_groups,
                v_new.committed,
                NULL::timestamptz;
            RETURN;
        END IF;
        SELECT u.*
        INTO v_update
        FROM weft.batch_update u
        WHERE u.batch_id = of_batch_id AND u.update_id = v_new.update_id;
    END IF;
    IF v_groups > 0 THEN
        PERFORM weft.add_groups(
            submit.tenant_id, v_update.batch_id, v_update.update_id, groups.group_ids, groups.parent_ids,
            groups.names, groups.attributes, groups.cancel_afters, groups.callbacks, depth_max,
            groups.are_sets, submit.at
        );
    END IF;
    IF new_jobs > 0 THEN
        v_bunch.tenant_id := submit.tenant_id;
        v_bunch.batch_id := v_update.batch_id;
        v_bunch.update_id := v_update.update_id;
        v_bunch.first_job := v_update.first_job;
        v_bunch.n_jobs := new_jobs;
        v_done := weft._lock_for_bunch(v_update.batch_id, jobs, v_before.limits IS NOT NULL) IS NULL;
        v_done := weft._add_bunch(v_update, v_bunch, jobs, v_before.limits) IS NULL;
    END IF;
    IF v_is_new_batch THEN
        IF v_before.counts THEN
            PERFORM weft._at_commit(submit.tenant_id, v_update, v_before.checks);
        END IF;
        v_done := weft._make_visible(v_update, true, submit.at) IS NULL;
    ELSE
        PERFORM FROM weft.commit_update(submit.tenant_id, of_batch_id, v_update.update_id, submit.at);
    END IF;
    RETURN QUERY
    SELECT
        v_update.batch_id,
        v_update.update_id,
        v_update.first_job,
        v_update.first_group,
        v_update.n_jobs,
        v_update.n_groups,
        true,
        submit.at;
END $$;
