-- How many mCPU of a user's jobs, or of those of all users of a tenant, run at a time: counted by gates, of which a job takes as many
-- places as it asks for mCPU.
ALTER TABLE weft.quota ADD COLUMN cores_max_m bigint CONSTRAINT quota_of_cores CHECK (cores_max_m BETWEEN 0 AND 1000000000);
-- In gate_set.gate_ids a gate of which a job takes several places is followed by minus their number; it stood there as often as that, and
-- cores are thousands of places.
UPDATE weft.gate_set s SET gate_ids = ARRAY(
    SELECT u.x FROM weft.gate_member m CROSS JOIN LATERAL unnest(ARRAY[m.gate_id] || CASE WHEN m.cost > 1 THEN -m.cost END) u (x)
    WHERE m.gate_set_id = s.gate_set_id AND u.x IS NOT NULL ORDER BY m.gate_id, u.x DESC)
WHERE EXISTS (SELECT FROM weft.gate_member m WHERE m.gate_set_id = s.gate_set_id AND m.cost > 1);
-- Until the functions are replaced, too: that of the release before adds sets in this form.
DO $do$
BEGIN
    IF to_regprocedure('weft._gate_set_id(int[])') IS NULL THEN
        RETURN;
    END IF;
    CREATE OR REPLACE FUNCTION weft._gate_set_id(of_gate_ids int[]) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
    DECLARE
        v_gates int[]; v_set int; v_batch bigint;
    BEGIN
        SELECT coalesce(array_agg(u.x ORDER BY t.gate_id, u.x DESC) FILTER (WHERE u.x IS NOT NULL), '{}') INTO v_gates
        FROM (SELECT x, count(*)::int FROM unnest(of_gate_ids) x GROUP BY x) t (gate_id, cost)
        CROSS JOIN LATERAL (VALUES (t.gate_id), (CASE WHEN t.cost > 1 THEN -t.cost END)) u (x);
        SELECT s.gate_set_id INTO v_set FROM weft.gate_set s WHERE s.gate_ids = v_gates;
        IF v_set IS NOT NULL THEN
            RETURN v_set;
        END IF;
        SELECT max(g.batch_id) INTO v_batch FROM weft.gate g WHERE g.gate_id = ANY (of_gate_ids);
        INSERT INTO weft.gate_set (gate_ids, batch_id) VALUES (v_gates, v_batch) ON CONFLICT DO NOTHING RETURNING gate_set_id INTO v_set;
        IF v_set IS NULL THEN
            SELECT s.gate_set_id INTO STRICT v_set FROM weft.gate_set s WHERE s.gate_ids = v_gates;
        ELSE
            INSERT INTO weft.gate_member (gate_id, gate_set_id, batch_id, cost)
            SELECT x, v_set, v_batch, count(*) FROM unnest(of_gate_ids) x GROUP BY x;
        END IF;
        RETURN v_set;
    END $$;
END $do$;
