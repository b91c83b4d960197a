-- _open_gates: open gates whose date has come: delete the date and leave a note, so that the driver admits
--   the jobs that wait there; and leave notes of places that come back by date.
-- Safe to repeat: yes.
-- Locks: gate_return (nobody else); gate (in order). Whoever puts jobs at a gate holds it until the commit:
--   we wait and the note finds these jobs; or the gate is open for them.
-- Plan: gates by date, at most 100; places by date.
-- Returns: whether there were any.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._open_gates(at timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_gates int[];
    v_is_back boolean;
BEGIN
    WITH due AS (DELETE FROM weft.gate_return r WHERE r.due_at <= _open_gates.at RETURNING r.gate_id, r.n)
    INSERT INTO weft.gate_note (gate_id, n_freed)
    SELECT d.gate_id, sum(d.n)
    FROM due d
    GROUP BY 1
    ORDER BY 1;
    v_is_back := FOUND;
    v_gates := ARRAY(
        SELECT g.gate_id FROM weft.gate g WHERE g.opens_at <= _open_gates.at ORDER BY g.opens_at LIMIT 100
    );
    IF v_gates = '{}' THEN
        RETURN v_is_back;
    END IF;
    v_gates := weft._lock_gates(v_gates, true);
    UPDATE weft.gate g SET opens_at = NULL WHERE g.gate_id = ANY (v_gates) AND g.opens_at <= _open_gates.at;
    INSERT INTO weft.gate_note (gate_id, n_freed) SELECT x, 0 FROM unnest(v_gates) x;
    RETURN true;
END $$;
