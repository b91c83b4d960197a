-- _remove_rows: remove up to limit_rows rows of a batch that is being removed; the last step removes the
--   batch and ends the operation.
-- Safe to repeat: yes; the position is the last job whose rows are all gone.
-- Locks: term (by the caller); operation (by the caller); batch_row (nobody else); product (nobody else);
--   as _remove_condition_batches; as _announce. Nobody else changes rows of the batch now.
-- Plan: by key; events from the oldest on, a page per step; claims and deltas, which are few, all at once.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._remove_rows(operation weft.operation, limit_rows int, at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint := operation.batch_id;
    v_to bigint := least(operation.position + limit_rows / 2, operation.n_total);
    v_table text;
    v_key text;
    v_left int := limit_rows;
    v_n int;
    v_events record;
BEGIN
    -- What belongs to jobs, by ranges of their numbers; the jobs last.
    IF operation.position < operation.n_total THEN
        FOREACH v_table IN ARRAY ARRAY[
            'attempt', 'edge', 'job_label', 'job_change', 'job_cancel', 'job_hold', 'held_ready', 'place',
            'admission', 'cascade', 'parent_end', 'parent_share', 'ready_job', 'late_job', 'blocked_job',
            'block_request', 'dead_letter', 'job_deadline', 'job_array', 'job_spec', 'preemption',
            'reservation', 'transport_offer', 'transport_cancel', 'job_command', 'attempt_watch',
            'attempt_note', 'job_note', 'attempt_stop', 'job_status', 'job_status_change', 'job_file',
            'attempt_staging', 'service', 'job_cache', 'job'
        ] LOOP
            v_key := CASE v_table
                WHEN 'edge' THEN 'parent_id'
                WHEN 'parent_end' THEN 'child_id'
                WHEN 'parent_share' THEN 'child_id'
                WHEN 'job_array' THEN 'first_job'
                WHEN 'job_deadline' THEN 'first_job'
                WHEN 'job_spec' THEN 'first_job'
                ELSE 'job_id'
            END;
            EXECUTE format(
                'DELETE FROM weft.%1$I t WHERE t.ctid = ANY (ARRAY(
                SELECT x.ctid FROM weft.%1$I x WHERE x.batch_id = $1 AND x.%2$I > $2 AND x.%2$I <= $3 LIMIT $4))',
                v_table,
                v_key
            )
                USING v_batch,
                operation.position::int,
                v_to::int,
                v_left;
            GET DIAGNOSTICS v_n = ROW_COUNT;
            v_left := v_left - v_n;
            IF v_left <= 0 THEN
                RETURN;
            END IF;
        END LOOP;
        -- Numbers that were reserved and never filled are passed at once.
        v_to := coalesce(
            (
                SELECT j.job_id - 1
                FROM weft.job j
                WHERE j.batch_id = v_batch AND j.job_id > v_to
                ORDER BY j.job_id
                LIMIT 1
            ),
            operation.n_total
        );
        UPDATE weft.operation o
        SET position = v_to, n_done = v_to
        WHERE o.operation_id = operation.operation_id;
        -- Progress displays read this now.
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, trace_id)
        VALUES (_remove_rows.at, operation.tenant_id, v_batch, 'operation.progress', operation.trace_id);
        PERFORM weft._announce();
        RETURN;
    END IF;
    -- A part of a payload is some 2,000 rows of its TOAST table.
    DELETE FROM weft.batch_payload t
    WHERE t.ctid = ANY (
        ARRAY(
            SELECT x.ctid
            FROM weft.batch_payload x
            WHERE x.batch_id = v_batch
            LIMIT greatest(1, limit_rows / 500)
        )
    );
    IF FOUND THEN
        RETURN;
    END IF;
    -- condition_batch, in an order of its own
    v_left := v_left - weft._remove_condition_batches(v_batch, v_left);
    -- few: those that were kept stay
    DELETE FROM weft.product p WHERE p.batch_id = v_batch AND p.kept_at IS NULL;
    -- What belongs to updates and groups; the cancel of the batch stays while there is anything that could
    -- run.
    FOREACH v_table IN ARRAY ARRAY[
        'runnable', 'batch_update', 'bunch_count', 'bunch', 'group_bunch', 'member_span', 'membership',
        'group_usage', 'group_completion', 'group_change', 'group_hold', 'failure_count', 'group_count',
        'group_ancestor', 'job_group', 'callback_delivery', 'subscription', 'gate_member', 'gate_set', 'gate',
        'user_batch_count', 'claim', 'job_delta', 'failure_delta', 'failure_cause', 'resubmitted_span',
        'batch_grant', 'batch_usage', 'batch_storage', 'foreign_state', 'spend_limit', 'empty_batch',
        'app_use', 'output_term',
        'job_file',  -- of the batch itself
        'skipped_batch',
        'group_cancel'
    ] LOOP
        EXECUTE format(
            'DELETE FROM weft.%1$I t WHERE t.ctid = ANY (ARRAY(SELECT x.ctid FROM weft.%1$I x WHERE x.batch_id = $1 LIMIT $2))',
            v_table
        )
            USING v_batch,
            v_left;
        GET DIAGNOSTICS v_n = ROW_COUNT;
        v_left := v_left - v_n;
        IF v_left <= 0 THEN
            RETURN;
        END IF;
    END LOOP;
    WITH page AS MATERIALIZED (
        SELECT
            e.xid,
            e.event_id,
            e.batch_id = v_batch AND e.kind <> 'batch.deleted' AND e.kind NOT LIKE 'operation.%' AS ours
        FROM weft.event e
        WHERE (e.xid, e.event_id) > (
            coalesce(operation.arguments ->> 'event_xid', '0')::xid8,
            coalesce((operation.arguments ->> 'event_id')::bigint, 0)
        )
        ORDER BY e.xid, e.event_id
        LIMIT limit_rows
    ),
    gone AS (DELETE FROM weft.event e USING page p WHERE p.ours AND e.xid = p.xid AND e.event_id = p.event_id)
    SELECT p.xid, p.event_id, count(*) OVER () AS n
    INTO v_events
    FROM page p
    ORDER BY p.xid DESC, p.event_id DESC
    LIMIT 1;
    IF v_events.n = limit_rows THEN
        UPDATE weft.operation o
        SET arguments = o.arguments
            || jsonb_build_object('event_xid', v_events.xid::text, 'event_id', v_events.event_id)
        WHERE o.operation_id = operation.operation_id;
        RETURN;
    END IF;
    DELETE FROM weft.operation o WHERE o.batch_id = v_batch AND o.operation_id <> operation.operation_id;
    UPDATE weft.operation o
    SET owner_id = NULL, project_id = NULL
    WHERE o.operation_id = operation.operation_id;
    DELETE FROM weft.batch b WHERE b.batch_id = v_batch;
    PERFORM pg_notify('removed', v_batch::text);  -- workers keep its output
    PERFORM weft._end_operation(
        operation.operation_id, NULL, jsonb_build_object('n_jobs', operation.n_total), _remove_rows.at
    );
END $$;
