-- commit_update: make an update visible and runnable.
-- Safe to repeat: yes, same answer.
-- Locks: as _before_submit; batch (shared); update; as _make_visible. A cancel or a hold waits for us, or we
--   see it.
-- Plan: as _make_visible.
-- Raises WF101, WF104, WF105 (project), WF202 (jobs or groups are missing), WF204 (cancelled), WF113 (queue
--   is full), WF134 (quota).
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_system.
CREATE OR REPLACE FUNCTION weft.commit_update(
    tenant_id int, batch_id bigint, of_update_id int, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (update_id int, first_job int, first_group int, n_jobs int, n_groups int, committed boolean)
LANGUAGE plpgsql
    -- Each of some twenty small statements would otherwise be planned longer than it runs.
    PLAN_ONCE AS $$
DECLARE
    v_update weft.batch_update;
    v_group int;
    v_before record;
    v_jobs bigint;
    v_groups bigint;
    v_missing text;
BEGIN
    PERFORM weft._check_batch(commit_update.batch_id);
    v_before := weft._before_submit(
        commit_update.tenant_id, NULL, commit_update.batch_id, NULL, true, of_update_id
    );
    PERFORM pg_advisory_xact_lock_shared(commit_update.batch_id);
    -- get_update checks the batch again: a deletion may have come first.
    PERFORM FROM weft.get_update(commit_update.tenant_id, commit_update.batch_id, of_update_id);
    SELECT u.*
    INTO v_update
    FROM weft.batch_update u
    WHERE u.batch_id = commit_update.batch_id AND u.update_id = of_update_id
    FOR UPDATE;
    IF v_update.committed_at IS NULL THEN
        PERFORM weft._check_spends(commit_update.batch_id, v_update.user_id);
        SELECT coalesce(sum(x.n_jobs), 0)
        INTO v_jobs
        FROM weft.bunch x
        WHERE x.batch_id = commit_update.batch_id AND x.update_id = of_update_id;
        IF v_jobs <> v_update.n_jobs THEN
            SELECT string_agg(format('%s to %s', gap.from_job, gap.to_job), ', ' ORDER BY gap.from_job)
            INTO v_missing
            FROM (
                SELECT
                    coalesce(lag(x.first_job + x.n_jobs) OVER (ORDER BY x.first_job), v_update.first_job)
                        - v_update.first_job + 1 AS from_job,
                    x.first_job - v_update.first_job AS to_job
                FROM (
                    SELECT b.first_job, b.n_jobs
                    FROM weft.bunch b
                    WHERE b.batch_id = commit_update.batch_id AND b.update_id = of_update_id
                    UNION ALL
                    SELECT v_update.first_job + v_update.n_jobs, 0
                ) x
                LIMIT 1000000
            ) gap
            WHERE gap.from_job <= gap.to_job
            LIMIT 1;
            PERFORM weft._fail(
                'WF202',
                format('update %s of batch b%s is incomplete', of_update_id, commit_update.batch_id),
                format(
                    'It reserved %s jobs, %s were sent; jobs %s of the update are missing.',
                    v_update.n_jobs,
                    v_jobs,
                    v_missing
                ),
                'Send the missing jobs, then commit again.'
            );
        END IF;
        SELECT count(*)
        INTO v_groups
        FROM weft.job_group g
        WHERE g.batch_id = commit_update.batch_id
            AND g.group_id BETWEEN v_update.first_group AND v_update.first_group + v_update.n_groups - 1;
        IF v_groups <> v_update.n_groups THEN
            PERFORM weft._fail(
                'WF202',
                format('update %s of batch b%s is incomplete', of_update_id, commit_update.batch_id),
                format('It reserved %s groups, %s were sent.', v_update.n_groups, v_groups),
                'Send the missing groups, then commit again.'
            );
        END IF;
        IF v_before.counts AND v_update.n_jobs > 0 THEN
            PERFORM weft._at_commit(commit_update.tenant_id, v_update, v_before.checks);
        END IF;
        FOR v_group IN
            SELECT DISTINCT c.group_id
            FROM weft.bunch_count c
            WHERE c.batch_id = commit_update.batch_id AND c.update_id = of_update_id
            UNION
            SELECT 0
            -- New groups need not have jobs; one cancelled group among them is enough.
            UNION (
                SELECT a.group_id
                FROM weft.group_ancestor a
                JOIN weft.group_cancel k ON k.batch_id = a.batch_id AND k.group_id = a.ancestor_id
                WHERE a.batch_id = commit_update.batch_id
                    AND a.group_id BETWEEN v_update.first_group AND v_update.first_group + v_update.n_groups
                        - 1
                LIMIT 1
            )
        LOOP
            PERFORM weft._check_open(commit_update.batch_id, v_group);
        END LOOP;
        PERFORM weft._make_visible(v_update, false, commit_update.at);
    END IF;
    RETURN QUERY
    SELECT
        v_update.update_id,
        v_update.first_job,
        v_update.first_group,
        v_update.n_jobs,
        v_update.n_groups,
        true;
END $$;
