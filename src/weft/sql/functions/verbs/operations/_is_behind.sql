-- _is_behind: whether an earlier operation of the same batch, of one of these kinds, is still running.
-- Plan: by the index of running operations.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._is_behind(operation weft.operation, VARIADIC kinds text[]) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.operation o
        WHERE o.state = 'running'
            AND o.batch_id = operation.batch_id
            AND o.kind = ANY (kinds)
            AND o.operation_id < operation.operation_id
    )
$$;
