-- remove_batch: one step of the removal of a deleted batch.
-- Safe to repeat: yes; the driver may die between any two steps.
-- Steps: note the transactions open when the batch was deleted; wait until they have ended and all jobs have
--   ended and been billed (_stop_batch); remove up to limit_rows rows at a time (_remove_rows).
-- Locks: as _check_epoch; operation; as _before_removal; as _stop_batch; as _remove_rows.
--   Nobody else changes rows of the batch now.
-- Plan: by key.
-- Returns: moved; waits: jobs have not ended yet, look again later.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.remove_batch(
    epoch bigint, of_operation_id bigint, limit_rows int, at timestamptz DEFAULT clock_timestamp()
) RETURNS text LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_operation weft.operation;
BEGIN
    SELECT o.*
    INTO v_operation
    FROM weft.operation o
    WHERE o.operation_id = of_operation_id AND o.state = 'running'
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'moved';
    END IF;
    IF NOT v_operation.arguments ? 'waits_for' THEN
        UPDATE weft.operation o
        SET arguments = jsonb_build_object('waits_for', weft._open_transactions())
        WHERE o.operation_id = of_operation_id;
        RETURN 'moved';
    END IF;
    IF NOT (SELECT b.removing FROM weft.batch b WHERE b.batch_id = v_operation.batch_id) THEN
        RETURN CASE
            WHEN weft._stop_batch(v_operation, limit_rows, remove_batch.at) THEN 'moved'
            ELSE 'waits'
        END;
    END IF;
    -- Of at most the jobs of which this step removes rows.
    PERFORM weft._before_removal(
        v_operation.batch_id, v_operation.position::int, v_operation.position::int + limit_rows
    );
    PERFORM weft._remove_rows(v_operation, limit_rows, remove_batch.at);
    RETURN 'moved';
END $$;
