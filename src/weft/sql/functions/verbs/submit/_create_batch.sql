-- _create_batch: make a batch with its root group.
-- Safe to repeat: yes with an idempotency key; same key and digest give the same batch.
-- Locks: as _key_holder; batch_row (new: nobody else but repeats of its idempotency key); as _cancel_group.
-- Plan: project, queue and key by index; as _key_holder.
-- batch: name, billing_project, attributes, callback, cancel_after_n_failures, gates (as _intern_gates),
--   door, foreign_trace, foreign_id, foreign_document, foreign_kind, lifecycle, sink (a name, or several),
--   subscriptions (name, url, event, persistent, policy), output_keep_s (NULL: as its tenant says),
--   created_at and ended_at (in another system, of which it is a record; NULL: now, and not yet), unique_by
--   (as _key_holder).
-- new_jobs, new_groups: of its first update, which the caller adds by _reserve_update; NULL: it has none yet.
-- Returns: its number, or that of the batch that has its key, and whether it is new.
-- Raises WF105 and WF125 (project), WF141 (lifecycle), WF151 (sink), WF201 (key used with another body).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._create_batch(
    tenant_id int,
    user_id int,
    batch jsonb,
    trace_id text,
    idempotency_key text,
    digest bytea,
    at timestamptz,
    new_jobs int DEFAULT NULL,
    new_groups int DEFAULT NULL
) RETURNS TABLE (batch_id bigint, is_new boolean) LANGUAGE plpgsql AS $$
DECLARE
    v_new record;
    v_project int;
    v_batch bigint;
    v_digest bytea;
    v_lifecycle int;
    v_sinks int[];
    v_holder bigint;
    v_made text;
BEGIN
    SELECT r.*
    INTO v_new
    FROM jsonb_to_record(_create_batch.batch) r (
        name text, billing_project text, attributes jsonb, callback text, cancel_after_n_failures int,
        gates jsonb, door text, foreign_trace text, foreign_id text, foreign_document jsonb, lifecycle text,
        sink jsonb, foreign_kind text, subscriptions jsonb, output_keep_s bigint, created_at timestamptz,
        ended_at timestamptz, unique_by jsonb
    );
    at := coalesce(v_new.created_at, _create_batch.at);
    v_project := weft._project_of(_create_batch.tenant_id, _create_batch.user_id, v_new.billing_project);
    IF v_new.unique_by IS NOT NULL THEN
        v_holder := weft._key_holder(
            _create_batch.tenant_id,
            _create_batch.user_id,
            v_new.unique_by,
            _create_batch.idempotency_key,
            _create_batch.digest,
            _create_batch.at
        );
        IF v_holder IS NOT NULL AND v_new.unique_by ->> 'on_conflict' <> 'replace' THEN
            RETURN QUERY SELECT v_holder, false;
            RETURN;
        END IF;
    END IF;
    IF v_new.lifecycle IS NOT NULL THEN
        v_lifecycle := weft._lifecycle_of(_create_batch.tenant_id, v_new.lifecycle);
    END IF;
    IF v_new.sink IS NOT NULL THEN
        SELECT array_agg(weft._sink_of(_create_batch.tenant_id, x.name) ORDER BY x.n)
        INTO v_sinks
        FROM jsonb_array_elements_text(
            CASE jsonb_typeof(v_new.sink) WHEN 'array' THEN v_new.sink ELSE jsonb_build_array(v_new.sink) END
        ) WITH ORDINALITY x (name, n);
    END IF;
    INSERT INTO weft.batch (
        tenant_id, user_id, project_id, queue_id, name, attributes, callback, cancel_after_n_failures,
        trace_id, idempotency_key, digest, created_at, bytes_counted, door, foreign_trace, foreign_id,
        foreign_document, foreign_kind, lifecycle_id, sink_id, more_sinks, unique_key, replaces, next_update,
        next_job, next_group
    )
    SELECT
        _create_batch.tenant_id, _create_batch.user_id, v_project, q.queue_id, v_new.name, v_new.attributes,
        v_new.callback, v_new.cancel_after_n_failures, _create_batch.trace_id, _create_batch.idempotency_key,
        _create_batch.digest, _create_batch.at, true, v_new.door, v_new.foreign_trace, v_new.foreign_id,
        v_new.foreign_document, v_new.foreign_kind, v_lifecycle, v_sinks[1], nullif(v_sinks[2:], '{}'),
        v_new.unique_by ->> 'key', v_holder,
        CASE WHEN new_jobs IS NULL THEN 1 ELSE 2 END,
        1 + least(coalesce(new_jobs, 0), 2000000000),
        1 + coalesce(new_groups, 0)
    FROM weft.queue q
    WHERE q.tenant_id = _create_batch.tenant_id AND q.name = 'default'
    ON CONFLICT (user_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING batch.batch_id
    INTO v_batch;
    IF v_batch IS NULL THEN
        SELECT b.batch_id, b.digest
        INTO v_batch, v_digest
        FROM weft.batch b
        WHERE b.user_id = _create_batch.user_id AND b.idempotency_key = _create_batch.idempotency_key;
        IF v_digest IS DISTINCT FROM _create_batch.digest THEN
            PERFORM weft._fail(
                'WF201',
                'the idempotency key was used for another request',
                format('It created batch b%s from a different body.', v_batch),
                'Send the same body again, or choose a new key.'
            );
        END IF;
        RETURN QUERY SELECT v_batch, false;
        RETURN;
    END IF;
    v_made := set_config('weft.made_batch', v_batch::text, true);  -- for the trail
    INSERT INTO weft.job_group (
        batch_id, group_id, tenant_id, name, path, depth, cancel_after_n_failures, created_at
    )
    VALUES (v_batch, 0, _create_batch.tenant_id, '', '/', 0, v_new.cancel_after_n_failures, _create_batch.at);
    INSERT INTO weft.group_ancestor (batch_id, group_id, ancestor_id, tenant_id)
    VALUES (v_batch, 0, 0, _create_batch.tenant_id);
    IF v_new.cancel_after_n_failures IS NOT NULL THEN
        INSERT INTO weft.failure_count (batch_id, group_id, tenant_id, n_failures_max)
        VALUES (v_batch, 0, _create_batch.tenant_id, v_new.cancel_after_n_failures);
    END IF;
    IF v_new.ended_at IS NOT NULL THEN
        INSERT INTO weft.foreign_state (batch_id, tenant_id, user_id, door, state, changed_at)
        VALUES (
            v_batch,
            _create_batch.tenant_id,
            _create_batch.user_id,
            v_new.door,
            ENDED_ELSEWHERE,
            v_new.ended_at
        );
    END IF;
    IF v_new.subscriptions <> '[]' THEN
        INSERT INTO weft.subscription (batch_id, tenant_id, name, url, event, persistent, policy)
        SELECT v_batch, _create_batch.tenant_id, s.name, s.url, s.event, s.persistent, s.policy
        FROM jsonb_to_recordset(v_new.subscriptions) s (
            name text, url text, event text, persistent boolean, policy jsonb
        );
    END IF;
    IF v_new.output_keep_s IS NOT NULL THEN
        INSERT INTO weft.output_term (batch_id, tenant_id, keep_s)
        VALUES (v_batch, _create_batch.tenant_id, v_new.output_keep_s);
    END IF;
    IF v_holder IS NOT NULL THEN
        PERFORM weft._cancel_group(
            v_holder,
            0,
            (SELECT u.name FROM weft.tenant_user u WHERE u.user_id = _create_batch.user_id),
            false,
            _create_batch.at
        );
    END IF;
    IF v_new.gates <> '[]' THEN
        UPDATE weft.batch b
        SET
            gated = true,
            gate_set_id = (weft._intern_gates(_create_batch.tenant_id, v_batch, ARRAY[v_new.gates]))[1]
        WHERE b.batch_id = v_batch;
    END IF;
    RETURN QUERY SELECT v_batch, true;
END $$;
