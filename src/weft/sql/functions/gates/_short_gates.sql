-- _short_gates: the gates that keep a job of this set waiting although each has a free place, because it needs more than one of them. They
--   are kept for it: otherwise jobs that need less would always come first.
-- Called by: _admit_head.   Safe to repeat: yes, it only reads.   Plan: members and gates by key.
-- Returns: NULL if it can pass, or if it waits for something else: a gate without a free place, one that we have not locked, or one that
--   has fewer places than it needs.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._short_gates(of_gate_set_id int, locked_gate_ids int[]) RETURNS int[] LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN bool_and(g.gate_id = ANY (locked_gate_ids) AND (m.cost > 1 OR g.n_taken < coalesce(g.max_places, 2147483647))
                              AND m.cost <= coalesce(g.max_places, 2147483647))
        THEN array_agg(g.gate_id) FILTER (WHERE g.max_places - g.n_taken < m.cost) END
    FROM weft.gate_member m JOIN weft.gate g USING (gate_id) WHERE m.gate_set_id = of_gate_set_id
$$;
