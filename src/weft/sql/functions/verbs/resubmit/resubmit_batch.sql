-- resubmit_batch: begin to make a new batch from the jobs of a batch: of all, or of those that failed and
--   those that were cancelled because of them.
-- Safe to repeat: yes with an idempotency key; else it begins to make another batch.
-- Locks: as _create_batch; as create_update; batch_row (new); as _create_operation.
-- Plan: by key.
-- changes: `batch` (name, attributes, which are added, and billing_project); `job`: only this one; the driver
--   reads the others.
-- The new batch is deleted until all its jobs are there: nobody sees a part of it, and an operation that
--   fails has only to remove it.
-- Returns: the operation.  Raises WF101, WF102, WF105 (project), WF201 (key used for another request), WF235
--   (nothing to resubmit), WF236 (its jobs have not all ended).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.resubmit_batch(
    tenant_id int,
    user_id int,
    batch_id bigint,
    failed boolean,
    changes jsonb,
    actor text,
    trace_id text,
    idempotency_key text,
    digest bytea,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_id bigint;
    v_new bigint;
    v_old record;
    v_last int;
BEGIN
    v_id := weft._find_operation(
        resubmit_batch.user_id, resubmit_batch.idempotency_key, resubmit_batch.digest
    );
    IF v_id IS NOT NULL THEN
        RETURN v_id;
    END IF;
    PERFORM weft._check_resubmitted(resubmit_batch.batch_id, resubmit_batch.failed);
    SELECT b.*, p.name AS billing_project
    INTO v_old
    FROM weft.batch b
    JOIN weft.billing_project p
    USING (project_id)
    WHERE b.batch_id = resubmit_batch.batch_id;
    IF changes ->> 'job' IS NOT NULL THEN
        PERFORM weft._check_job(resubmit_batch.batch_id, (changes ->> 'job')::int);
    END IF;
    SELECT CASE WHEN changes ->> 'job' IS NULL THEN coalesce(max(u.first_job + u.n_jobs - 1), 0) ELSE 1 END
    INTO v_last
    FROM weft.batch_update u
    WHERE u.batch_id = resubmit_batch.batch_id AND u.committed_at IS NOT NULL;
    SELECT b.batch_id
    INTO v_new
    FROM weft._create_batch(
        resubmit_batch.tenant_id,
        resubmit_batch.user_id,
        jsonb_build_object(
            'name', v_old.name,
            'billing_project', v_old.billing_project,
            'callback', v_old.callback,
            'cancel_after_n_failures', v_old.cancel_after_n_failures,
            'lifecycle', (SELECT l.name FROM weft.lifecycle l WHERE l.lifecycle_id = v_old.lifecycle_id),
            'sink', (
                SELECT jsonb_agg(s.name ORDER BY x.n)
                FROM unnest(v_old.sink_id || v_old.more_sinks) WITH ORDINALITY x (id, n)
                JOIN weft.sink s ON s.sink_id = x.id
            ),
            'gates', (
                SELECT coalesce(
                    jsonb_agg(
                        jsonb_build_object('kind', f.key) || CASE jsonb_typeof(f.value)
                            WHEN 'number' THEN jsonb_build_object('max_places', f.value)
                            WHEN 'object'
                                THEN jsonb_build_object(
                                    'max_places', f.value -> 'n',
                                    'key', format(
                                        '%s/%sms',
                                        f.value ->> 'key',
                                        ((f.value -> 'per_s')::float8 * 1000)::int
                                    )
                                )
                            ELSE jsonb_build_object('opens_at', f.value)
                        END
                    ),
                    '[]'
                )
                FROM jsonb_each(weft._gate_fields(resubmit_batch.batch_id)) f
            )
        ) || (changes -> 'batch') || jsonb_build_object(
            'attributes', v_old.attributes || coalesce(changes -> 'batch' -> 'attributes', '{}')
        ),
        resubmit_batch.trace_id,
        NULL,
        NULL,
        resubmit_batch.at
    ) b;
    PERFORM
    FROM weft.create_update(
        resubmit_batch.tenant_id, resubmit_batch.user_id, v_new, 0, 0, resubmit_batch.trace_id, NULL, NULL,
        at => resubmit_batch.at
    );
    UPDATE weft.batch b
    SET
        deleted_at = resubmit_batch.at,
        resubmitted_from = resubmit_batch.batch_id,
        next_group = v_old.next_group
    WHERE b.batch_id = v_new;
    RETURN weft._create_operation(
        resubmit_batch.tenant_id, resubmit_batch.user_id, resubmit_batch.batch_id, 'resubmit',
        jsonb_build_object(
            'new_batch', v_new,
            'failed', resubmit_batch.failed,
            'changes', resubmit_batch.changes - 'batch',
            'actor', resubmit_batch.actor
        ),
        v_last, resubmit_batch.trace_id, resubmit_batch.idempotency_key, resubmit_batch.digest,
        resubmit_batch.at
    );
END $$;
