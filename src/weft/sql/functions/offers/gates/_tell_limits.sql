-- _tell_limits: tell these gates how many places they have from now on; NULL: as many as jobs want. A note
--   says so, and the next owner of a gate's row sets it, so nobody waits for the row here.
-- Safe to repeat: yes.
-- Locks: none.
-- Plan: gates and notes by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._tell_limits(of_gate_ids int[], limits int[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_changed int[];
BEGIN
    WITH changed AS (
        INSERT INTO weft.gate_note (gate_id, n_freed, max_places)
        SELECT g.gate_id, 0, coalesce(t.places, -1)
        FROM unnest(of_gate_ids, limits) t (gate_id, places)
        JOIN weft.gate g
        USING (gate_id)
        WHERE g.max_places IS DISTINCT FROM t.places
            OR EXISTS (SELECT FROM weft.gate_note n WHERE n.gate_id = g.gate_id AND n.max_places IS NOT NULL)
        RETURNING gate_id
    )
    SELECT array_agg(c.gate_id)
    INTO v_changed
    FROM changed c;
    IF v_changed IS NOT NULL THEN
        PERFORM weft._ring_gates(v_changed);
    END IF;
END $$;
