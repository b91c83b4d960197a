-- _set_gates: the gates of these sets, in order; NULL if they have none, like the sets of offered (0) and
--   parked (1) jobs.
-- Plan: members by set.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._set_gates(of_gate_set_ids int[]) RETURNS int[]
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT array_agg(DISTINCT m.gate_id ORDER BY m.gate_id)
    FROM weft.gate_member m
    WHERE m.gate_set_id = ANY (of_gate_set_ids)
$$;
