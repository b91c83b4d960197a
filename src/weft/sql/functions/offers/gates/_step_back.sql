-- _step_back: admitted jobs that are not claimed yet make room for waiting jobs that come before them.
-- Safe to repeat: yes.
-- Returns: whether any job went back.
-- Locks: gate (by the caller); as _give_back.
-- Plan: the first waiting job of each user; at most 1,000 places of each gate. No job waits
--   long behind jobs that are about to be claimed.
-- Within a batch and a priority no job is overtaken: the first keeps its place.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._step_back(of_gate_ids int[], of_gate_set_ids int[], at timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_first record;
    v_batch bigint[];
    v_job int[];
BEGIN
    SELECT coalesce(s.load, 0) AS load, h.user_id, w.rank, w.batch_id
    INTO v_first
    FROM weft._waiting_heads(of_gate_set_ids) h
    LEFT JOIN weft.user_share s ON s.pool_id = h.pool_id AND s.user_id = h.user_id
    CROSS JOIN LATERAL weft._waiting_jobs(ARRAY[h.gate_set_id], h.pool_id, h.user_id, 1, false, _step_back.at)
        w
    ORDER BY 1, 2, 3, 4
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT array_agg(x.batch_id), array_agg(x.job_id)
    INTO v_batch, v_job
    FROM (
        SELECT DISTINCT p.batch_id, p.job_id
        FROM unnest(of_gate_ids) g
        CROSS JOIN LATERAL (
            SELECT y.batch_id, y.job_id
            FROM weft.place y
            WHERE y.gate_id = g
            ORDER BY y.admitted_at DESC
            LIMIT 1000
        ) p
        JOIN weft.ready_job q ON q.batch_id = p.batch_id AND q.job_id = p.job_id AND q.gate_set_id = 0
        LEFT JOIN weft.user_share s ON s.pool_id = q.pool_id AND s.user_id = q.user_id
        WHERE (coalesce(s.load, 0), q.user_id, q.rank, q.batch_id) > (
            v_first.load, v_first.user_id, v_first.rank, v_first.batch_id
        )
    ) x;
    RETURN v_job IS NOT NULL AND weft._give_back(of_gate_ids, v_batch, v_job) > 0;
END $$;
