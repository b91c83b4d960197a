-- _short_gates: the gates that keep a job of this set waiting although each has a free place, because it
--   needs more than one of them. They are kept for it: otherwise jobs that need less would always come first.
-- A gate that yields to another kind is not kept while the job lacks places of that: others may use what is
--   free.
-- Plan: members and gates by key.
-- Returns: NULL if it can pass, or if it waits for something else: a gate without a free place, one that we
--   have not locked, or one that has fewer places than it needs.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._short_gates(of_gate_set_id int, locked_gate_ids int[]) RETURNS int[]
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN bool_and(
            x.gate_id = ANY (locked_gate_ids)
                AND (x.cost > 1 OR x.n_taken < x.n_places)
                AND x.cost <= x.n_places
        )
            THEN array_agg(x.gate_id)
                FILTER (WHERE x.is_short AND NOT coalesce(x.yields_to = ANY (x.short_kinds), false))
    END
    FROM (
        SELECT y.*, array_agg(y.kind) FILTER (WHERE y.is_short) OVER () AS short_kinds
        FROM (
            SELECT
                g.gate_id,
                g.kind,
                k.yields_to,
                g.n_taken,
                m.cost,
                coalesce(g.max_places, 2147483647) AS n_places,
                g.max_places - g.n_taken < m.cost AS is_short
            FROM weft.gate_member m
            JOIN weft.gate g
            USING (gate_id)
            LEFT JOIN weft._gate_kinds() k ON k.kind = g.kind
            WHERE m.gate_set_id = of_gate_set_id
        ) y
    ) x
$$;
