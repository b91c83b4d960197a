-- _open_sets: those of these gate sets that jobs may pass: no gate of them has a date that has not come.
-- Plan: members and gates by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._open_sets(of_gate_set_ids int[], at timestamptz) RETURNS int[]
LANGUAGE sql STABLE AS $$
    SELECT ARRAY(
        SELECT s
        FROM unnest(of_gate_set_ids) s
        WHERE NOT EXISTS (
            SELECT
            FROM weft.gate_member m
            JOIN weft.gate g
            USING (gate_id)
            WHERE m.gate_set_id = s AND g.opens_at > _open_sets.at
        )
    )
$$;
