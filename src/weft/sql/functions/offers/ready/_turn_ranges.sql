-- _turn_ranges: hide the ranges of a batch from claimers and gates, before gate set 1, or show them again.
-- Safe to repeat: yes.
-- Locks: range (SKIP LOCKED); as _pass_gates.
-- Plan: ranges by batch.
-- Returns: whether all are done; if not, the fold is moving one.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._turn_ranges(of_batch_id bigint, hidden boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_set int;
BEGIN
    SELECT CASE WHEN _turn_ranges.hidden THEN 1 ELSE b.gate_set_id END
    INTO v_set
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id;
    UPDATE weft.runnable r
    SET gate_set_id = v_set
    FROM (
        SELECT x.runnable_id
        FROM weft.runnable x
        WHERE x.batch_id = of_batch_id AND (x.gate_set_id = 1) <> _turn_ranges.hidden
        FOR UPDATE SKIP LOCKED
    ) t
    WHERE r.runnable_id = t.runnable_id;
    IF v_set > 1 THEN
        PERFORM weft._pass_gates(weft._set_gates(ARRAY[v_set]), true);
    END IF;
    RETURN NOT EXISTS (
        SELECT
        FROM weft.runnable x
        WHERE x.batch_id = of_batch_id AND (x.gate_set_id = 1) <> _turn_ranges.hidden
    );
END $$;
