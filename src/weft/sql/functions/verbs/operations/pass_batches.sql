-- pass_batches: note that an operation on batches has nothing left to do down to a number; at 1 it ends.
-- Safe to repeat: yes, what was passed is not passed again.
-- Locks: as _check_epoch; operation; as _end_operation; as _announce_operation.
-- Plan: by key.
-- n_idle: as act_on_batch.
-- skipped: as _pass_batches.
-- Returns: false if the operation is over, or has passed that number.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.pass_batches(
    epoch bigint,
    of_operation_id bigint,
    down_to bigint,
    n_idle bigint,
    skipped text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_operation weft.operation;
    v_result jsonb;
BEGIN
    -- The last one of a page may be passed by itself and with the page; a batch that is skipped is passed
    -- once.
    SELECT o.*
    INTO v_operation
    FROM weft.operation o
    WHERE o.operation_id = of_operation_id
        AND o.state = 'running'
        AND pass_batches.down_to <= o.n_total - o.position + (pass_batches.skipped IS NULL)::int
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_result := weft._pass_batches(
        v_operation, pass_batches.down_to, 0, pass_batches.n_idle, pass_batches.skipped
    );
    IF pass_batches.skipped IS NOT NULL THEN
        RETURN true;
    ELSIF pass_batches.down_to <= 1 THEN
        PERFORM weft._end_operation(of_operation_id, NULL, v_result, pass_batches.at);
    ELSE
        PERFORM weft._announce_operation(v_operation, 'operation.progress', pass_batches.at);
    END IF;
    RETURN true;
END $$;
