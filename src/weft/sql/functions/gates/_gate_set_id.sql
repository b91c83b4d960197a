-- _gate_set_id: the id of this set of gates; a new set is added. A gate stands in it as often as a job takes places of it.
-- Called by: _intern_gates, _job_gates.   Safe to repeat: yes.
-- Locks: none but its rows. Concurrent calls that add the same set wait.   Plan: by the unique array.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._gate_set_id(of_gate_ids int[]) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_gates int[]; v_set int; v_batch bigint;
BEGIN
    SELECT coalesce(array_agg(x ORDER BY x), '{}') INTO v_gates FROM unnest(of_gate_ids) x;
    SELECT s.gate_set_id INTO v_set FROM weft.gate_set s WHERE s.gate_ids = v_gates;
    IF v_set IS NOT NULL THEN
        RETURN v_set;
    END IF;
    SELECT max(g.batch_id) INTO v_batch FROM weft.gate g WHERE g.gate_id = ANY (v_gates);
    INSERT INTO weft.gate_set (gate_ids, batch_id) VALUES (v_gates, v_batch) ON CONFLICT DO NOTHING RETURNING gate_set_id INTO v_set;
    IF v_set IS NULL THEN
        SELECT s.gate_set_id INTO STRICT v_set FROM weft.gate_set s WHERE s.gate_ids = v_gates;
    ELSE
        INSERT INTO weft.gate_member (gate_id, gate_set_id, batch_id, cost)
        SELECT x, v_set, v_batch, count(*) FROM unnest(v_gates) x GROUP BY x;
    END IF;
    RETURN v_set;
END $$;
