-- set_priorities: one bounded step of changing a group's priority: its next jobs get it, unless they have
--   ended, were committed later, or got a priority of their own since the request.
-- Safe to repeat: yes, its position moves with the work.
-- Locks: as _check_epoch; operation; batch (shared); job (SKIP LOCKED); as _set_priority; as _announce.
-- Plan: jobs by key, at most 10,000 numbers per call, only where the group has some.
-- Returns: moved; busy: some rows were locked and come next; waits: an earlier operation of this batch goes
--   first.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.set_priorities(
    epoch bigint, of_operation_id bigint, limit_rows int, at timestamptz DEFAULT clock_timestamp()
) RETURNS text LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_operation weft.operation;
    v_group int;
    v_priority smallint;
    v_span record;
    v_all int[];
    v_job int[];
    v_busy int;
    v_to bigint;
    v_result jsonb;
BEGIN
    SELECT o.*
    INTO v_operation
    FROM weft.operation o
    WHERE o.operation_id = of_operation_id AND o.state = 'running'
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'moved';
    ELSIF weft._is_behind(v_operation, 'set_priority') THEN
        RETURN 'waits';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(v_operation.batch_id);
    v_group := (v_operation.arguments ->> 'group_id')::int;
    v_priority := (v_operation.arguments ->> 'priority')::smallint;
    SELECT s.* INTO v_span FROM weft._next_span(v_operation.batch_id, v_group, v_operation.position::int) s;
    v_to := least(v_span.last_job, v_operation.n_total, v_span.first_job::bigint + 9999);
    SELECT coalesce(array_agg(x.job_id), '{}')
    INTO v_all
    FROM (
        SELECT j.job_id
        FROM weft.job j
        WHERE j.batch_id = v_operation.batch_id
            AND j.job_id BETWEEN v_span.first_job AND v_to
            AND j.state < STATE_SUCCESS
            AND j.priority <> v_priority
            AND EXISTS (
                SELECT
                FROM weft.group_ancestor a
                WHERE a.batch_id = j.batch_id AND a.group_id = j.group_id AND a.ancestor_id = v_group
            )
            AND EXISTS (
                SELECT
                FROM weft.batch_update u
                WHERE u.batch_id = j.batch_id
                    AND u.update_id = j.update_id
                    AND u.committed_at <= v_operation.created_at
            )
            AND NOT EXISTS (
                SELECT
                FROM weft.job_change c
                WHERE c.batch_id = j.batch_id
                    AND c.job_id = j.job_id
                    AND c.subtype = 'prioritized'
                    AND c.at >= v_operation.created_at
            )
        ORDER BY j.job_id
        LIMIT limit_rows
    ) x;
    IF cardinality(v_all) = limit_rows THEN
        v_to := v_all[limit_rows];
    END IF;
    SELECT coalesce(array_agg(l.job_id), '{}')
    INTO v_job
    FROM unnest(v_all) x
    CROSS JOIN LATERAL (
        SELECT j.job_id
        FROM weft.job j
        WHERE j.batch_id = v_operation.batch_id AND j.job_id = x
        FOR NO KEY UPDATE SKIP LOCKED
    ) l;
    SELECT min(x) INTO v_busy FROM unnest(v_all) x WHERE x <> ALL (v_job);
    -- Once more, now that nobody else can give them one.
    SELECT array_agg(x)
    INTO v_job
    FROM unnest(v_job) x
    WHERE NOT EXISTS (
        SELECT
        FROM weft.job_change c
        WHERE c.batch_id = v_operation.batch_id
            AND c.job_id = x
            AND c.subtype = 'prioritized'
            AND c.at >= v_operation.created_at
    );
    v_job := weft._set_priority(v_operation.batch_id, v_job, v_priority);
    v_to := coalesce(least(v_to, v_busy - 1), v_operation.n_total);
    v_result := v_operation.arguments || jsonb_build_object(
        'n_changed', coalesce((v_operation.result ->> 'n_changed')::bigint, 0) + cardinality(v_job)
    );
    UPDATE weft.operation o
    SET position = greatest(o.position, v_to), n_done = greatest(o.n_done, v_to), result = v_result
    WHERE o.operation_id = of_operation_id;
    IF v_job <> '{}' THEN
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, jobs)
        VALUES (set_priorities.at, v_operation.tenant_id, v_operation.batch_id, 'jobs.prioritized', v_job);
    END IF;
    IF v_to >= v_operation.n_total THEN
        PERFORM weft._end_operation(of_operation_id, NULL, v_result, set_priorities.at);
    ELSE
        PERFORM weft._announce();
    END IF;
    RETURN CASE WHEN v_busy IS NULL THEN 'moved' ELSE 'busy' END;
END $$;
