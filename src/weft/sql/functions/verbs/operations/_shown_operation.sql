-- _shown_operation: an operation that the caller of this transaction sees.
-- Plan: by key.
-- Raises WF106.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._shown_operation(of_operation_id bigint) RETURNS weft.operation
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_operation weft.operation;
BEGIN
    SELECT o.*
    INTO v_operation
    FROM weft.operation o
    WHERE o.operation_id = of_operation_id AND weft._sees_operation(o);
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF106',
            format('operation %s does not exist', of_operation_id),
            'No operation with this number is visible to you.',
            'Name an operation by the number that its request was answered with.'
        );
    END IF;
    RETURN v_operation;
END $$;
