-- _remove_condition_batches: remove up to limit_rows of the rows that say at which conditions jobs of a batch
--   have waited.
-- Safe to repeat: yes.
-- Locks: condition_batch (in the order of conditions, as due_conditions takes them).
-- Plan: by key.
-- Returns: how many rows.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._remove_condition_batches(of_batch_id bigint, limit_rows int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_n int;
BEGIN
    WITH one AS MATERIALIZED (
        SELECT c.condition_id
        FROM weft.condition_batch c
        WHERE c.batch_id = of_batch_id
        ORDER BY c.condition_id
        LIMIT limit_rows
        FOR UPDATE
    )
    DELETE FROM weft.condition_batch c
    USING one o
    WHERE c.batch_id = of_batch_id AND c.condition_id = o.condition_id;
    GET DIAGNOSTICS v_n = ROW_COUNT;
    RETURN v_n;
END $$;
