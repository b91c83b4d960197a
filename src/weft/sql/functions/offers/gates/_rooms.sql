-- _rooms: how many jobs of each of these gate sets may pass now: the smallest room among its gates, each divided by the places that
--   a job takes; 0 if we have not locked all of its gates.
--   The caller has left out sets with a date that has not come (_open_sets).
-- Plan: inlined; members and gates by key.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._rooms(of_gate_set_ids int[], locked_gate_ids int[]) RETURNS TABLE (gate_set_id int, room int)
LANGUAGE sql STABLE AS $$
    SELECT m.gate_set_id, CASE WHEN bool_and(g.gate_id = ANY (locked_gate_ids))
        THEN min(coalesce((g.max_places - g.n_taken) / m.cost, 2147483647)) ELSE 0 END
    FROM weft.gate_member m JOIN weft.gate g USING (gate_id) WHERE m.gate_set_id = ANY (of_gate_set_ids) GROUP BY m.gate_set_id
$$;
