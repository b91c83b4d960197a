-- _give_back: send jobs that were admitted and not claimed back to wait at their gates, and free their
--   places.
-- Safe to repeat: yes, jobs that are claimed or locked are skipped.
-- Locks: gate (by the caller); job (SKIP LOCKED); ready_job (SKIP LOCKED); as _free_places. A claim holds
--   both rows of a job. Other gates get notes.
-- Plan: both by key.
-- own_gate_ids: those that the caller has locked, and whose jobs it looks at afterwards.
-- Returns: how many jobs went back.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._give_back(own_gate_ids int[], batch_ids bigint[], job_ids int[]) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
    v_job int[];
    v_set int[];
    v_gates int[];
BEGIN
    SELECT array_agg(t.b), array_agg(t.j), array_agg(weft._job_gates(b.gate_set_id, l.gate_set_id))
    INTO v_batch, v_job, v_set
    FROM unnest(_give_back.batch_ids, _give_back.job_ids) t (b, j)
    CROSS JOIN LATERAL (
        SELECT y.gate_set_id
        FROM weft.job y
        WHERE y.batch_id = t.b AND y.job_id = t.j AND y.state = STATE_READY AND y.listed
        FOR NO KEY UPDATE SKIP LOCKED
    ) l
    CROSS JOIN LATERAL (
        SELECT q.job_id
        FROM weft.ready_job q
        WHERE q.batch_id = t.b AND q.job_id = t.j AND q.gate_set_id = 0
        FOR NO KEY UPDATE SKIP LOCKED
    ) q
    JOIN weft.batch b ON b.batch_id = t.b;
    UPDATE weft.ready_job q
    SET gate_set_id = t.s
    FROM unnest(v_batch, v_job, v_set) t (b, j, s)
    WHERE q.batch_id = t.b AND q.job_id = t.j;
    v_gates := weft._free_places(v_batch, v_job);
    PERFORM weft._count_notes(ARRAY(SELECT x FROM unnest(v_gates) x WHERE x = ANY (own_gate_ids)));
    IF NOT v_gates <@ own_gate_ids THEN
        PERFORM weft._ring_gates(ARRAY(SELECT x FROM unnest(v_gates) x WHERE x <> ALL (own_gate_ids)));
    END IF;
    RETURN coalesce(cardinality(v_job), 0);
END $$;
