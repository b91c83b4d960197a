-- begin_batch_action: begin to cancel, hold, release or retry many batches: those of its user that a query
--   finds, or those of a list. Those that are made later are left out.
-- Safe to repeat: yes with an idempotency key.
-- Locks: as _create_operation; operation (nobody else: it is new).
-- Plan: the newest batch of the tenant by index.
-- arguments: `action`, `actor`, and `query` or `batches`; `as_member`: those of the tenant are not meant;
--   what the trail says of each batch: `token_id`, `address`.
-- Returns: the operation.  Raises WF101, WF130, WF201 (key used for another request).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.begin_batch_action(
    tenant_id int,
    user_id int,
    arguments jsonb,
    trace_id text,
    idempotency_key text,
    digest bytea,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_id bigint;
    v_last bigint;
BEGIN
    v_id := weft._find_operation(
        begin_batch_action.user_id, begin_batch_action.idempotency_key, begin_batch_action.digest
    );
    IF v_id IS NOT NULL THEN
        RETURN v_id;
    END IF;
    PERFORM weft._check_batch(x.b::bigint)
    FROM jsonb_array_elements_text(begin_batch_action.arguments -> 'batches') x (b);
    SELECT b.batch_id
    INTO v_last
    FROM weft.batch b
    WHERE b.tenant_id = begin_batch_action.tenant_id
    ORDER BY b.tenant_id DESC, b.batch_id DESC
    LIMIT 1;
    v_id := weft._create_operation(
        begin_batch_action.tenant_id, begin_batch_action.user_id, NULL, 'batch_action',
        begin_batch_action.arguments, coalesce(v_last, 0), begin_batch_action.trace_id,
        begin_batch_action.idempotency_key,
        begin_batch_action.digest,
        begin_batch_action.at
    );
    UPDATE weft.operation o
    SET result = jsonb_build_object(
        'action', o.arguments -> 'action',
        'query', o.arguments -> 'query',
        'n_changed', 0,
        'n_idle', 0,
        'n_skipped', 0,
        'skipped', '{}'::jsonb
    )
    WHERE o.operation_id = v_id;
    RETURN v_id;
END $$;
