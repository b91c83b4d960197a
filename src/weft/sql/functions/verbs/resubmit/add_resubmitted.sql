-- add_resubmitted: add jobs to the batch that is made from another, and note which they were.
-- Safe to repeat: yes, its position moves with the work.
-- Locks: as _check_epoch; operation; as _before_submit (the same rows);
--   batch_row (the old one, shared); as add_jobs; update (nobody else); as _after_copy; as _announce. Nobody
--   else knows the new batch.
-- Plan: as add_jobs.
-- after_job, upto: the jobs after the first up to the last were examined. job_ids: those of them that are
--   added; `jobs` describes them.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.add_resubmitted(
    epoch bigint,
    of_operation_id bigint,
    after_job bigint,
    upto bigint,
    job_ids int[],
    jobs weft.job_columns,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_operation weft.operation;
    v_new bigint;
    v_first int;
    v_n int := cardinality(job_ids);
BEGIN
    SELECT o.*
    INTO v_operation
    FROM weft.operation o
    WHERE o.operation_id = of_operation_id AND o.state = 'running' AND o.position = after_job
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_new := (v_operation.arguments ->> 'new_batch')::bigint;
    IF v_n > 0 THEN
        PERFORM weft._before_submit(v_operation.tenant_id, NULL, v_new, jobs.shape_countables, false);
        PERFORM FROM weft.batch b WHERE b.batch_id = v_operation.batch_id AND b.deleted_at IS NULL FOR SHARE;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        -- For add_jobs it exists, but for nobody else.
        UPDATE weft.batch b
        SET deleted_at = NULL, next_job = b.next_job + v_n
        WHERE b.batch_id = v_new
        RETURNING b.next_job - v_n
        INTO v_first;
        UPDATE weft.batch_update u SET n_jobs = u.n_jobs + v_n WHERE u.batch_id = v_new AND u.update_id = 1;
        PERFORM weft.add_jobs(v_operation.tenant_id, v_new, 1, v_first, v_n, jobs);
        PERFORM weft._after_copy(v_new, v_first, v_n, jobs.rare_fields);
        UPDATE weft.batch b SET deleted_at = b.created_at WHERE b.batch_id = v_new;
        INSERT INTO weft.resubmitted_span (batch_id, from_job, n_jobs, first_job, tenant_id)
        SELECT v_new, min(t.x), count(*), v_first + min(t.n) - 1, v_operation.tenant_id
        FROM unnest(job_ids) WITH ORDINALITY t (x, n)
        GROUP BY t.x - t.n;
    END IF;
    UPDATE weft.operation o
    SET position = least(upto, o.n_total), n_done = least(upto, o.n_total)
    WHERE o.operation_id = of_operation_id;
    -- Progress displays read this now.
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, trace_id)
    VALUES (
        add_resubmitted.at,
        v_operation.tenant_id,
        v_operation.batch_id,
        'operation.progress',
        v_operation.trace_id
    );
    PERFORM weft._announce();
END $$;
