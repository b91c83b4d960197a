-- _create_operation: add the row of a new operation and notify the driver.
-- Safe to repeat: no, see _find_operation.
-- Returns: its number.
-- Locks: as _announce.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._create_operation(
    tenant_id int,
    user_id int,
    batch_id bigint,
    kind text,
    arguments jsonb,
    n_total bigint,
    trace_id text,
    idempotency_key text,
    digest bytea,
    at timestamptz
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_id bigint;
BEGIN
    INSERT INTO weft.operation (
        tenant_id, user_id, batch_id, kind, arguments, n_total, trace_id, idempotency_key, digest, created_at
    )
    VALUES (
        _create_operation.tenant_id, _create_operation.user_id, _create_operation.batch_id,
        _create_operation.kind, _create_operation.arguments, _create_operation.n_total,
        _create_operation.trace_id,
        _create_operation.idempotency_key,
        _create_operation.digest,
        _create_operation.at
    )
    RETURNING operation_id
    INTO v_id;
    PERFORM weft._announce();
    RETURN v_id;
END $$;
