-- retry_failed: one bounded step of a retry: the next jobs that failed, and those that were cancelled because
--   of them, run again.
-- Safe to repeat: yes, its position moves with the work.
-- Locks: as _check_epoch; operation; as _before_retry; as _lift_limits; batch (shared); as _retry (instead);
--   as _end_operation; as _announce.
-- Plan: as _find_retried.
-- matching, for an operation with a query: of the jobs up to looked_upto, those that match the query of the
--   operation; NULL: it has none.
-- Returns: moved; busy: some rows are locked elsewhere; waits: an earlier retry or resubmission of this batch
--   goes first, the batch is being deleted, or jobs still have to end that the cancel of their group stops.
-- Raises WF105.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.retry_failed(
    epoch bigint,
    of_operation_id bigint,
    matching int[],
    looked_upto bigint,
    limit_rows int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_operation weft.operation;
    v_lifted int[];
    v_batch record;
    v_named int[];
    v_last bigint;
    v_found record;
    v_result jsonb;
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
    PERFORM weft._before_retry(v_operation.tenant_id, v_operation.batch_id);
    IF NOT v_operation.arguments ?| ARRAY['jobs', 'query', 'cause', 'lifted'] THEN
        v_lifted := weft._lift_limits(
            v_operation.batch_id,
            coalesce((v_operation.arguments ->> 'within_group')::int, 0),
            v_operation.created_at,
            v_operation.arguments ->> 'actor',
            retry_failed.at
        );
        IF v_lifted IS NULL THEN
            RETURN 'waits';
        ELSIF v_lifted <> '{}' THEN
            UPDATE weft.operation o
            SET arguments = o.arguments || jsonb_build_object('lifted', v_lifted)
            WHERE o.operation_id = of_operation_id;
            RETURN 'moved';
        END IF;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(v_operation.batch_id);
    SELECT b.has_edges, b.deleted_at INTO v_batch FROM weft.batch b WHERE b.batch_id = v_operation.batch_id;
    IF v_batch.deleted_at IS NOT NULL THEN
        RETURN 'waits';
    END IF;
    PERFORM weft._check_spends(v_operation.batch_id, v_operation.user_id);
    IF v_operation.arguments ? 'jobs' THEN
        v_named := ARRAY(SELECT x::int FROM jsonb_array_elements_text(v_operation.arguments -> 'jobs') x);
    ELSIF v_operation.arguments ? 'lifted' THEN
        v_lifted := ARRAY(SELECT x::int FROM jsonb_array_elements_text(v_operation.arguments -> 'lifted') x);
    END IF;
    IF v_operation.arguments ? 'cause' THEN
        -- Each of them is among the next that are found.
        matching := ARRAY(
            SELECT d.job_id
            FROM weft.dead_letter d
            WHERE d.batch_id = v_operation.batch_id
                AND d.job_id > v_operation.position
                AND d.job_id <= v_operation.position + 200000
                AND d.cause_id = (v_operation.arguments ->> 'cause')::bigint
            ORDER BY d.job_id
            LIMIT limit_rows
        );
    END IF;
    -- What depends on named jobs has higher numbers.
    v_last := CASE
        WHEN v_named IS NULL OR v_batch.has_edges THEN v_operation.n_total
        ELSE (SELECT max(x) FROM unnest(v_named) x)
    END;
    SELECT f.*
    INTO v_found
    FROM weft._find_retried(
        v_operation.batch_id,
        v_named,
        matching,
        greatest(v_operation.position + 1, (SELECT min(x) FROM unnest(v_named) x)),
        least(v_last, looked_upto, v_operation.position + 200000),
        limit_rows,
        retry_failed.at,
        lifted => v_lifted
    ) f;
    IF v_found.job_ids <> '{}'
        AND NOT weft._retry(
            v_operation.batch_id, v_found.job_ids, v_operation.arguments ->> 'actor', retry_failed.at
        )
    THEN
        RETURN 'busy';
    END IF;
    v_result := jsonb_strip_nulls(
        jsonb_build_object(
            'n_retried', coalesce((v_operation.result ->> 'n_retried')::bigint, 0)
                + cardinality(v_found.job_ids),
            'n_late', nullif(coalesce((v_operation.result ->> 'n_late')::bigint, 0) + v_found.n_late, 0)
        )
    );
    UPDATE weft.operation o
    SET position = v_found.upto, n_done = least(v_found.upto, o.n_total), result = v_result
    WHERE o.operation_id = of_operation_id;
    IF v_found.upto >= v_last THEN
        PERFORM weft._end_operation(of_operation_id, NULL, v_result, retry_failed.at);
    END IF;
    PERFORM weft._announce();
    RETURN 'moved';
END $$;
