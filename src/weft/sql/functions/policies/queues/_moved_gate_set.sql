-- _moved_gate_set: the gate set of a job that moves to another queue: its own gates, without those of its
--   queue, and these.
-- Safe to repeat: yes.
-- Locks: as _gate_set_id.
-- Plan: both sets by key.
-- Returns: NULL if it has no gates.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._moved_gate_set(own int, of_queue int) RETURNS int
LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
    SELECT nullif(weft._gate_set_id(array_agg(x.gate_id), array_agg(x.cost)), 0)
    FROM (
        SELECT m.gate_id, m.cost
        FROM weft.gate_member m
        JOIN weft.gate g
        USING (gate_id)
        LEFT JOIN weft._gate_kinds() k ON k.kind = g.kind
        WHERE m.gate_set_id = own AND k.limited_by IS DISTINCT FROM 'queue'
        UNION
        SELECT m.gate_id, m.cost
        FROM weft.gate_member m
        WHERE m.gate_set_id = of_queue
    ) x
$$;
