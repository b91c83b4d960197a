-- _sets_at: the sets of these gates at which jobs wait.
-- Plan: members by gate; the first job or range of each set by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._sets_at(of_gate_ids int[]) RETURNS int[] LANGUAGE sql STABLE AS $$
    SELECT array_agg(DISTINCT m.gate_set_id)
    FROM weft.gate_member m
    WHERE m.gate_id = ANY (of_gate_ids)
        AND (
            EXISTS (SELECT FROM weft.ready_job q WHERE q.gate_set_id = m.gate_set_id)
                OR EXISTS (SELECT FROM weft.runnable r WHERE r.gate_set_id = m.gate_set_id)
        )
$$;
