-- _pass_batches: note that an operation on batches has passed all down to a number, and what it did there.
-- Safe to repeat: no.
-- Locks: operation (by the caller).
-- Plan: by key.
-- skipped: why the last one of them could not be changed: the code of an error; NULL: none was.
-- Returns: what it has done so far.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._pass_batches(
    operation weft.operation, down_to bigint, n_changed int, n_idle bigint, skipped text
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_old jsonb := operation.result;
    v_why jsonb := operation.result -> 'skipped';
    v_result jsonb;
BEGIN
    IF skipped IS NOT NULL THEN
        v_why := v_why || jsonb_build_object(skipped, coalesce((v_why ->> skipped)::bigint, 0) + 1);
    END IF;
    UPDATE weft.operation o
    SET
        position = o.n_total + 1 - down_to,
        n_done = o.n_total + 1 - down_to,
        result = v_old || jsonb_build_object(
            'n_changed', (v_old ->> 'n_changed')::bigint + _pass_batches.n_changed,
            'n_idle', (v_old ->> 'n_idle')::bigint + _pass_batches.n_idle,
            'n_skipped', (v_old ->> 'n_skipped')::bigint + (skipped IS NOT NULL)::int,
            'skipped', v_why
        )
    WHERE o.operation_id = operation.operation_id
    RETURNING o.result
    INTO v_result;
    RETURN v_result;
END $$;
