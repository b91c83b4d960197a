-- patrol: one bounded step of a look at all jobs that have not ended, in the order of tenants, batches and
--   numbers: which are with nobody; it repairs nothing. Those that wait for longer than their queue or
--   lifecycle allows end, or go on as that says.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; as _limit_statuses (of one batch); as _end_overdue (of the same).
-- Plan: the next open batches by group_count_open_idx, at most 100; as _look_at_jobs and _end_overdue.
--   Complete batches are not read.
-- Returns: a document: where to go on, how many jobs have not ended, those that are with nobody, and how many
--   it ended; nothing after the last one.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.patrol(
    epoch bigint, from_tenant int, from_batch bigint, after_job int, limit_jobs int
) RETURNS jsonb LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_batch record;
    v_look record;
    v_after int;
    v_left int := limit_jobs;
    v_live int := 0;
    v_orphans jsonb := '[]';
    v_ended jsonb;
BEGIN
    FOR v_batch IN
        SELECT c.tenant_id, c.batch_id
        FROM weft.group_count c
        WHERE c.group_id = 0 AND NOT c.complete AND (c.tenant_id, c.batch_id) >= (from_tenant, from_batch)
        ORDER BY c.tenant_id, c.batch_id
        LIMIT 100
    LOOP
        v_after := CASE WHEN v_batch.batch_id = from_batch THEN patrol.after_job ELSE 0 END;
        SELECT * INTO v_look FROM weft._look_at_jobs(v_batch.batch_id, v_after, v_left);
        v_live := v_live + v_look.n_live;
        v_left := v_left - v_look.n_read;
        SELECT v_orphans || coalesce(
            jsonb_agg(
                jsonb_build_object('batch_id', v_batch.batch_id, 'job_id', o.job_id, 'state', s.word) ORDER BY
                    o.job_id
            ),
            '[]'
        )
        INTO v_orphans
        FROM unnest(v_look.orphans, v_look.states) o (job_id, state)
        JOIN weft.job_state s
        USING (state);
        SELECT jsonb_agg(
            jsonb_build_object('batch_id', v_batch.batch_id, 'n_jobs', e.n_jobs, 'message', e.message)
        )
        INTO v_ended
        FROM (
            SELECT *
            FROM weft._limit_statuses(v_batch.batch_id, v_after, v_look.last_job, clock_timestamp())
            UNION ALL
            SELECT *
            FROM weft._end_overdue(v_batch.batch_id, v_after, v_look.last_job, clock_timestamp())
        ) e;
        EXIT WHEN v_left <= 0 OR v_ended IS NOT NULL;  -- jobs of one batch are locked
    END LOOP;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN jsonb_build_object(
        'tenant_id', v_batch.tenant_id,
        'batch_id', v_batch.batch_id + CASE WHEN v_left > 0 THEN 1 ELSE 0 END,
        'job_id', CASE WHEN v_left > 0 THEN 0 ELSE v_look.last_job END,
        'n_live', v_live,
        'orphans', v_orphans,
        'ended', coalesce(v_ended, '[]')
    );
END $$;
