-- _gate_set_id: the id of this set of gates; a new set is added.
-- Safe to repeat: yes.
-- Locks: none but its rows. Concurrent calls that add the same set wait.
-- Plan: by the unique array.
-- of_gate_ids: each gate once, in any order.
-- costs: how many places a job takes of each; NULL: 1.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._gate_set_id(of_gate_ids int[], costs int[] DEFAULT NULL) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    v_gates int[];
    v_set int;
    v_batch bigint;
BEGIN
    SELECT coalesce(array_agg(u.x ORDER BY t.gate_id, u.x DESC) FILTER (WHERE u.x IS NOT NULL), '{}')
    INTO v_gates
    FROM unnest(of_gate_ids, costs) t (gate_id, cost)
    CROSS JOIN LATERAL (VALUES (t.gate_id), (CASE WHEN t.cost > 1 THEN -t.cost END)) u (x);
    SELECT s.gate_set_id INTO v_set FROM weft.gate_set s WHERE s.gate_ids = v_gates;
    IF v_set IS NOT NULL THEN
        RETURN v_set;
    END IF;
    SELECT max(g.batch_id) INTO v_batch FROM weft.gate g WHERE g.gate_id = ANY (of_gate_ids);
    INSERT INTO weft.gate_set (gate_ids, batch_id)
    VALUES (v_gates, v_batch)
    ON CONFLICT DO NOTHING
    RETURNING gate_set_id
    INTO v_set;
    IF v_set IS NULL THEN
        SELECT s.gate_set_id INTO STRICT v_set FROM weft.gate_set s WHERE s.gate_ids = v_gates;
    ELSE
        INSERT INTO weft.gate_member (gate_id, gate_set_id, batch_id, cost)
        SELECT t.gate_id, v_set, v_batch, coalesce(t.cost, 1)
        FROM unnest(of_gate_ids, costs) t (gate_id, cost);
    END IF;
    RETURN v_set;
END $$;
