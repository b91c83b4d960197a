-- _find_operation: the operation made with this idempotency key, or NULL. Raises WF201 if the key was used
--   with another body.
-- Safe to repeat: yes, it only reads.
-- For: functions that create operations, first.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._find_operation(of_user_id int, of_key text, of_digest bytea) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_old weft.operation;
BEGIN
    SELECT o.* INTO v_old FROM weft.operation o WHERE o.user_id = of_user_id AND o.idempotency_key = of_key;
    IF FOUND AND v_old.digest IS DISTINCT FROM of_digest THEN
        PERFORM weft._fail(
            'WF201',
            'the idempotency key was used for another request',
            format('It created operation %s from a different body.', v_old.operation_id),
            'Send the same body again, or choose a new key.'
        );
    END IF;
    RETURN v_old.operation_id;
END $$;
