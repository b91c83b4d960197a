-- _limit_batch: limit how many jobs of a batch may run at once; NULL: no limit. A batch without a limit can get one only while it has no
--   jobs. After that the limit can be raised, lowered and removed; running jobs continue.
-- Called by: nobody yet; for edits of a batch.   Safe to repeat: yes.
-- Locks: gate; as _give_back; as _pass_gates.   Plan: the gate and its places by key.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._limit_batch(of_batch_id bigint, max_running int, at timestamptz DEFAULT clock_timestamp()) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_gate int; v_excess int;
BEGIN
    PERFORM weft._lock_gates(ARRAY(SELECT g.gate_id FROM weft.gate g WHERE g.kind = 'max_running' AND g.key = of_batch_id::text), true);
    UPDATE weft.gate g SET max_places = _limit_batch.max_running, limited_at = _limit_batch.at,
        max_ever = CASE WHEN g.max_ever IS NOT NULL AND _limit_batch.max_running IS NOT NULL
            THEN greatest(g.max_ever, _limit_batch.max_running) END
    WHERE g.kind = 'max_running' AND g.key = of_batch_id::text RETURNING g.gate_id, g.n_taken - g.max_places INTO v_gate, v_excess;
    IF v_gate IS NULL THEN
        INSERT INTO weft.gate (kind, key, batch_id, max_places, max_ever)
        VALUES ('max_running', of_batch_id::text, of_batch_id, _limit_batch.max_running, _limit_batch.max_running)
        RETURNING gate_id INTO v_gate;
        UPDATE weft.batch b SET gate_set_id = weft._gate_set_id(ARRAY[v_gate]), gated = true WHERE b.batch_id = of_batch_id;
        RETURN;
    END IF;
    IF v_excess > 0 THEN
        PERFORM weft._give_back(ARRAY[v_gate], array_agg(p.batch_id), array_agg(p.job_id)) FROM (
            SELECT p.batch_id, p.job_id FROM weft.place p
            JOIN weft.ready_job q ON q.batch_id = p.batch_id AND q.job_id = p.job_id AND q.gate_set_id = 0
            WHERE p.gate_id = v_gate ORDER BY q.rank DESC, p.job_id DESC LIMIT v_excess) p;
    END IF;
    PERFORM weft._pass_gates(ARRAY[v_gate], false);
END $$;
