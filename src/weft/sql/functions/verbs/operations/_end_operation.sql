-- _end_operation: end an operation and notify those who wait for it. The batch that a failed resubmission was
--   making is removed.
-- Safe to repeat: yes, an operation that has ended is left as it is.
-- Locks: operation; as _announce_operation.
-- result: NULL: what its steps have noted so far.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_operation(
    of_operation_id bigint, error jsonb, result jsonb, at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_operation weft.operation;
BEGIN
    UPDATE weft.operation o
    SET
        state = CASE WHEN _end_operation.error IS NULL THEN 'success' ELSE 'failed' END,
        error = _end_operation.error,
        result = coalesce(_end_operation.result, o.result),
        ended_at = _end_operation.at
    WHERE o.operation_id = of_operation_id AND o.state = 'running'
    RETURNING o.*
    INTO v_operation;
    IF FOUND THEN
        IF v_operation.kind = 'resubmit' AND v_operation.state = 'failed' THEN
            PERFORM weft._create_operation(
                b.tenant_id, b.user_id, b.batch_id, 'delete_batch', '{}', b.next_job - 1,
                v_operation.trace_id, NULL, NULL, _end_operation.at
            )
            FROM weft.batch b
            WHERE b.batch_id = (v_operation.arguments ->> 'new_batch')::bigint;
        END IF;
        PERFORM weft._announce_operation(v_operation, 'operation.' || v_operation.state, _end_operation.at);
    END IF;
END $$;
