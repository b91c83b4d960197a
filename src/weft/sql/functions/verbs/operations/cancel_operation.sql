-- cancel_operation: end an operation on batches before it has reached all of them; what it has done stays
--   done.
-- Safe to repeat: yes, an operation that has ended is left as it is.
-- Locks: operation; as _announce_operation.
-- Plan: by key.
-- Returns: its document.  Raises WF106, WF139 (an operation of another kind, on a batch).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.cancel_operation(
    tenant_id int, of_operation_id bigint, at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_operation weft.operation;
BEGIN
    v_operation := weft._shown_operation(of_operation_id);
    IF v_operation.kind <> 'batch_action' THEN
        PERFORM weft._fail(
            'WF139',
            format('operation %s cannot be cancelled', of_operation_id),
            format(
                'It is of the kind %s; only operations on many batches can be cancelled.', v_operation.kind
            ),
            'Wait for its end: `weft operation ls` shows how far it is.'
        );
    END IF;
    UPDATE weft.operation o
    SET state = 'cancelled', ended_at = cancel_operation.at
    WHERE o.operation_id = of_operation_id AND o.state = 'running'
    RETURNING o.*
    INTO v_operation;
    IF FOUND THEN
        PERFORM weft._announce_operation(v_operation, 'operation.cancelled', cancel_operation.at);
    END IF;
    RETURN weft._operation_document(weft._shown_operation(of_operation_id));
END $$;
