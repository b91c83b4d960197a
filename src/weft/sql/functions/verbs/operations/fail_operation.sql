-- fail_operation: end an operation of which a step cannot succeed. A set that it was filling is never shown,
--   and its name becomes free.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; operation; group (the set); as _end_operation.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.fail_operation(
    epoch bigint, of_operation_id bigint, error jsonb, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.job_group g
    SET name = format('/failed %s', of_operation_id)
    FROM weft.operation o
    WHERE o.operation_id = of_operation_id
        AND o.state = 'running'
        AND o.kind = 'fill_set'
        AND g.batch_id = o.batch_id
        AND g.group_id = (o.arguments ->> 'group_id')::int
        AND g.hidden;
    PERFORM weft._end_operation(of_operation_id, fail_operation.error, NULL, fail_operation.at);
END $$;
