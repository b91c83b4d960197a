-- act_on_batch: do to a batch what an operation on batches is for, as the same request of its user would do
--   it now, and record it in the trail.
-- Safe to repeat: yes, the operation passes the batch in the same transaction, from the highest number to the
--   lowest.
-- Locks: as _check_epoch; operation; as cancel_group; as hold_group (instead); as release_group (instead); as
--   retry_jobs (instead); as _pass_batches; as record_request.
-- Plan: by key.
-- of_role: what the caller's role is thought to be.
-- n_idle: batches above this one, since the last one that was passed, in which there was nothing to do.
-- Returns: false, and nothing was done: the operation is over or has passed the batch, or the user is removed
--   or has another role.
-- Raises what a request about the batch would.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.act_on_batch(
    tenant_id int,
    epoch bigint,
    of_operation_id bigint,
    of_batch_id bigint,
    of_role text,
    n_idle bigint,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_operation weft.operation;
    v_user text;
    v_action text;
    v_actor text;
    v_is_new boolean;
BEGIN
    PERFORM weft._check_epoch(act_on_batch.epoch);
    SELECT o.*
    INTO v_operation
    FROM weft.operation o
    WHERE o.operation_id = of_operation_id
        AND o.tenant_id = act_on_batch.tenant_id
        AND o.state = 'running'
        AND of_batch_id <= o.n_total - o.position
    FOR UPDATE;
    SELECT u.name
    INTO v_user
    FROM weft.tenant_user u
    WHERE u.user_id = v_operation.user_id AND u.removed_at IS NULL AND u.role = of_role;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_action := v_operation.arguments ->> 'action';
    v_actor := v_operation.arguments ->> 'actor';
    v_is_new := CASE v_action
        WHEN 'cancel'
            THEN weft.cancel_group(v_operation.tenant_id, of_batch_id, 0, v_actor, false, act_on_batch.at)
        WHEN 'hold' THEN weft.hold_group(v_operation.tenant_id, of_batch_id, 0, v_actor, act_on_batch.at)
        WHEN 'release'
            THEN weft.release_group(v_operation.tenant_id, of_batch_id, 0, v_actor, act_on_batch.at)
        WHEN 'retry'
            THEN weft.retry_jobs(
                v_operation.tenant_id, v_operation.user_id, of_batch_id, NULL, NULL, NULL, NULL, v_actor,
                v_operation.trace_id, NULL, NULL, act_on_batch.at
            ) IS NOT NULL
    END;
    PERFORM weft._pass_batches(
        v_operation, of_batch_id, v_is_new::int, act_on_batch.n_idle + (NOT v_is_new)::int, NULL
    );
    IF v_is_new THEN
        PERFORM weft.record_request(
            jsonb_build_object(
                'request_id', gen_random_uuid(),
                'tenant_id', v_operation.tenant_id,
                'user_id', v_operation.user_id,
                'user_name', v_user,
                'token_id', v_operation.arguments -> 'token_id',
                'address', v_operation.arguments -> 'address',
                'trace_id', coalesce(v_operation.trace_id, ''),
                'action', v_action || '_batch',
                'path', format('/v1/operations/%s', of_operation_id),
                'batch_id', of_batch_id
            ),
            1
        );
    END IF;
    RETURN true;
END $$;
