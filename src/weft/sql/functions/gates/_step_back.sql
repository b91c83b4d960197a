-- _step_back: admitted jobs that are not claimed yet make room for the first waiting job that comes before them and needs their places.
-- Called by: _pass_gates, when jobs came and what is free was given away.   Safe to repeat: yes.   Returns: whether any job went back.
-- Locks: as _lock_gates; as _give_back.
-- Plan: the first waiting job of each user; at most 1,000 places of each gate, those of this pass excepted. No job waits long behind jobs
--   that are about to be claimed.
-- Within a batch and a priority no job is overtaken: the first keeps its place. Nobody goes back for a job that could not pass even then.
-- of_gate_ids: those whose jobs the caller looks at. At others, where places become free, too, the driver does.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._step_back(of_gate_ids int[], of_gate_set_ids int[], at timestamptz) RETURNS boolean LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_batch bigint[]; v_job int[]; v_others int[];
BEGIN
    WITH late AS MATERIALIZED (
        SELECT (coalesce(s.load, 0), q.user_id, q.rank, q.batch_id) AS turn, q.job_id, q.batch_id, a.gate_id, a.cost
        FROM (
            SELECT DISTINCT y.batch_id, y.job_id FROM unnest(of_gate_ids) g
            CROSS JOIN LATERAL (SELECT x.* FROM weft.place x WHERE x.gate_id = g ORDER BY x.admitted_at DESC LIMIT 1000) y
            WHERE y.admitted_at < _step_back.at) p
        JOIN weft.ready_job q ON q.batch_id = p.batch_id AND q.job_id = p.job_id AND q.gate_set_id = 0
        JOIN weft.place a ON a.batch_id = p.batch_id AND a.job_id = p.job_id
        LEFT JOIN weft.user_share s ON s.pool_id = q.pool_id AND s.user_id = q.user_id),
    head AS MATERIALIZED (
        SELECT (coalesce(s.load, 0), h.user_id, w.rank, w.batch_id) AS turn, h.gate_set_id FROM weft._waiting_heads(of_gate_set_ids) h
        LEFT JOIN weft.user_share s ON s.pool_id = h.pool_id AND s.user_id = h.user_id
        CROSS JOIN LATERAL weft._waiting_jobs(ARRAY[h.gate_set_id], h.pool_id, h.user_id, 1, false, _step_back.at) w
        WHERE EXISTS (SELECT FROM late)),
    short AS MATERIALIZED (  -- the gates where a head lacks places, and what it gets there if all who come later go back
        SELECT h.turn, h.gate_set_id, g.gate_id, g.max_places - g.n_taken - m.cost + coalesce((
            SELECT sum(l.cost) FROM late l WHERE l.gate_id = g.gate_id AND l.turn > h.turn), 0) >= 0 AS suffices
        FROM head h JOIN weft.gate_member m ON m.gate_set_id = h.gate_set_id JOIN weft.gate g ON g.gate_id = m.gate_id
        WHERE g.n_taken + m.cost > g.max_places),
    chosen AS MATERIALIZED (
        SELECT x.turn, x.gate_set_id FROM short x GROUP BY 1, 2 HAVING bool_and(x.suffices) ORDER BY 1 LIMIT 1)
    SELECT array_agg(d.batch_id), array_agg(d.job_id), (
        SELECT array_agg(DISTINCT a.gate_id) FROM late a WHERE a.gate_id <> ALL (of_gate_ids))
    INTO v_batch, v_job, v_others FROM (
        SELECT DISTINCT l.batch_id, l.job_id FROM chosen c
        JOIN short x ON x.turn = c.turn AND x.gate_set_id = c.gate_set_id
        JOIN late l ON l.gate_id = x.gate_id AND l.turn > c.turn) d;
    IF v_job IS NULL OR weft._give_back(of_gate_ids || weft._lock_gates(v_others, false), v_batch, v_job) = 0 THEN
        RETURN false;
    END IF;
    IF v_others IS NOT NULL THEN
        PERFORM weft._ring_gates(v_others);
    END IF;
    RETURN true;
END $$;
