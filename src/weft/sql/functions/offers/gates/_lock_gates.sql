-- _lock_gates: lock gates.
-- Safe to repeat: yes.
-- Locks: gate (in the order of their ids, tried). Only the driver waits for them, and it holds no row that
--   others need.
-- Plan: gates by key.
-- Returns: the locked gates, in order.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lock_gates(of_gate_ids int[], waits boolean) RETURNS int[]
LANGUAGE plpgsql AS $$
DECLARE
    v_gates int[];
BEGIN
    IF waits THEN
        SELECT array_agg(l.gate_id)
        INTO v_gates
        FROM (
            SELECT g.gate_id
            FROM weft.gate g
            WHERE g.gate_id = ANY (of_gate_ids)
            ORDER BY g.gate_id
            FOR NO KEY UPDATE
        ) l;
    ELSE
        SELECT array_agg(l.gate_id)
        INTO v_gates
        FROM (
            SELECT g.gate_id
            FROM weft.gate g
            WHERE g.gate_id = ANY (of_gate_ids)
            ORDER BY g.gate_id
            FOR NO KEY UPDATE SKIP LOCKED
        ) l;
    END IF;
    RETURN coalesce(v_gates, '{}');
END $$;
