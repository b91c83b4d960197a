-- copy_batch: one bounded step of a resubmission beside its jobs: first groups and payloads of the old batch
--   are copied to the new one; at last it is committed, and is there for everybody.
-- Safe to repeat: yes; the driver may die between any two steps.
-- Locks: as _check_epoch; operation; as _before_submit; batch_row (the old one, shared); as _copy_parts; as
--   commit_update (the same queues); group (nobody else); as _record_change; as _end_operation. Nobody else
--   knows the new batch.
-- Plan: groups and payloads by key; as commit_update.
-- Returns: moved; jobs: the next step is add_resubmitted; empty: there was nothing to resubmit; waits: an
--   earlier operation changes what failed in the batch, or the batch is being deleted.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.copy_batch(
    epoch bigint, of_operation_id bigint, limit_rows int, at timestamptz DEFAULT clock_timestamp()
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_operation weft.operation;
    v_new bigint;
    v_copied jsonb;
    v_checks boolean;
    v_n int;
BEGIN
    SELECT o.*
    INTO v_operation
    FROM weft.operation o
    WHERE o.operation_id = of_operation_id AND o.state = 'running'
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'moved';
    ELSIF weft._is_behind(v_operation, 'retry', 'resubmit') THEN
        RETURN 'waits';
    END IF;
    v_new := (v_operation.arguments ->> 'new_batch')::bigint;
    -- Before the rows of batches, as every commit does.
    v_checks := (
        weft._before_submit(
            v_operation.tenant_id,
            NULL,
            v_new,
            NULL,
            v_operation.position >= v_operation.n_total,
            CASE WHEN v_operation.position >= v_operation.n_total THEN 1 END
        )
    ).checks;
    PERFORM FROM weft.batch b WHERE b.batch_id = v_operation.batch_id AND b.deleted_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RETURN 'waits';
    END IF;
    IF v_operation.position < v_operation.n_total THEN
        v_copied := weft._copy_parts(
            v_operation.batch_id, v_new, v_operation.arguments, limit_rows, v_checks
        );
        IF v_copied IS NULL THEN
            RETURN 'jobs';
        END IF;
        UPDATE weft.operation o
        SET arguments = o.arguments || v_copied
        WHERE o.operation_id = of_operation_id;
        RETURN 'moved';
    ELSIF (SELECT b.next_job FROM weft.batch b WHERE b.batch_id = v_new) = 1 THEN
        RETURN 'empty';
    END IF;
    -- From here on it exists.
    UPDATE weft.batch b
    SET deleted_at = NULL, created_at = copy_batch.at
    WHERE b.batch_id = v_new
    RETURNING b.next_job - 1
    INTO v_n;
    PERFORM FROM weft.commit_update(v_operation.tenant_id, v_new, 1, copy_batch.at);
    UPDATE weft.job_group g SET created_at = copy_batch.at WHERE g.batch_id = v_new AND g.group_id = 0;
    PERFORM weft._record_change(
        v_operation.batch_id,
        0,
        'resubmitted',
        v_operation.arguments ->> 'actor',
        format('as b%s', v_new),
        copy_batch.at
    );
    PERFORM weft._end_operation(
        v_operation.operation_id, NULL, jsonb_build_object('batch_id', v_new, 'n_jobs', v_n), copy_batch.at
    );
    RETURN 'moved';
END $$;
