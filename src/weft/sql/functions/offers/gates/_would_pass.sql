-- _would_pass: whether a job of this gate set would find a free place at each gate if an admitted job gave its places back.
-- Plan: members, gates and places by key.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._would_pass(of_gate_set_id int, of_batch_id bigint, of_job_id int) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (
        SELECT FROM weft.gate_member m JOIN weft.gate g USING (gate_id)
        WHERE m.gate_set_id = of_gate_set_id AND g.max_places < g.n_taken + m.cost - coalesce((
            SELECT p.cost FROM weft.place p WHERE p.batch_id = of_batch_id AND p.job_id = of_job_id AND p.gate_id = g.gate_id), 0))
$$;
