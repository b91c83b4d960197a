-- _set_of_more_cores: the gate set of a job that asks for another number of mCPU now: it takes as many places of its gates of
--   running cores.
-- Safe to repeat: yes.   Locks: as _gate_set_id.   Plan: members by set.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._set_of_more_cores(of_gate_set_id int, new_cpu_m bigint) RETURNS int LANGUAGE sql AS $$
    SELECT weft._gate_set_id(array_agg(m.gate_id),
        array_agg(CASE WHEN k.cost = 'cpu' THEN new_cpu_m::int ELSE m.cost END))
    FROM weft.gate_member m JOIN weft.gate g USING (gate_id) LEFT JOIN weft._gate_kinds() k ON k.kind = g.kind
    WHERE m.gate_set_id = of_gate_set_id HAVING count(*) > 0
$$;
