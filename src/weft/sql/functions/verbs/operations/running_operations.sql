-- running_operations: the operations that the driver continues, oldest first, in pages, so that waiting ones
--   do not hide the others.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: by the index of running operations.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.running_operations(epoch bigint, above_id bigint, limit_operations int)
RETURNS TABLE (
    operation_id bigint,
    tenant_id int,
    batch_id bigint,
    kind text,
    arguments jsonb,
    "position" bigint,
    n_total bigint,
    trace_id text
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_term(running_operations.epoch);
    IF NOT EXISTS (SELECT FROM weft.operation o WHERE o.state = 'running') THEN
        RETURN;
    END IF;
    PERFORM weft._check_term(running_operations.epoch);
    RETURN QUERY
    SELECT
        o.operation_id,
        o.tenant_id,
        o.batch_id,
        o.kind,
        o.arguments,
        o.position,
        o.n_total,
        coalesce(o.trace_id, '')
    FROM weft.operation o
    WHERE o.state = 'running' AND o.operation_id > running_operations.above_id
    ORDER BY o.operation_id
    LIMIT running_operations.limit_operations;
END $$;
