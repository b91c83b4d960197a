-- _count_notes: delete these gates' notes and subtract the places that they say were given back.
-- Called by: _lock_gates, _step_back.   Safe to repeat: yes.   Locks: gate (by the caller).   Plan: notes and gates by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_notes(of_gate_ids int[]) RETURNS void LANGUAGE sql
AS $$
    WITH gone AS (DELETE FROM weft.gate_note n WHERE n.gate_id = ANY (of_gate_ids) RETURNING n.gate_id, n.n_freed)
    UPDATE weft.gate g SET n_taken = g.n_taken - s.n
    FROM (SELECT x.gate_id, sum(x.n_freed)::int AS n FROM gone x GROUP BY 1) s WHERE g.gate_id = s.gate_id AND s.n > 0
$$;
