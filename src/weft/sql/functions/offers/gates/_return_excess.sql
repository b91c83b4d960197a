-- _return_excess: take places back from jobs that are admitted and not claimed, at gates with more places taken than their limit, which was
--   lowered. Jobs that claims would serve last go first.
-- Called by: _pass_gates.   Safe to repeat: yes.   Returns: whether any job went back.
-- Locks: gate (by the caller); as _give_back.   Plan: gates by key; the places of those above their limit.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._return_excess(of_gate_ids int[]) RETURNS boolean LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_batch bigint[]; v_job int[];
BEGIN
    SELECT array_agg(x.batch_id), array_agg(x.job_id) INTO v_batch, v_job FROM (
        SELECT DISTINCT e.batch_id, e.job_id FROM weft.gate g
        CROSS JOIN LATERAL (
            SELECT p.batch_id, p.job_id, sum(p.cost) OVER (ORDER BY q.rank DESC, p.batch_id DESC, p.job_id DESC) - p.cost AS before
            FROM weft.place p
            JOIN weft.ready_job q ON q.batch_id = p.batch_id AND q.job_id = p.job_id AND q.gate_set_id = 0
            WHERE p.gate_id = g.gate_id ORDER BY q.rank DESC, p.batch_id DESC, p.job_id DESC LIMIT g.n_taken - g.max_places) e
        WHERE g.gate_id = ANY (of_gate_ids) AND g.n_taken > g.max_places AND e.before < g.n_taken - g.max_places) x;
    RETURN v_job IS NOT NULL AND weft._give_back(of_gate_ids, v_batch, v_job) > 0;
END $$;
