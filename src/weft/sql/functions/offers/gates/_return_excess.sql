-- _return_excess: take places back from jobs that are admitted and not claimed, at gates with more places
--   taken than their limit, which was lowered. Jobs that claims would serve last go first, then those that
--   are offered to transports, the last offer first: it is withdrawn.
-- Safe to repeat: yes.
-- Returns: whether any job went back.
-- Locks: gate (by the caller); job (SKIP LOCKED); as _unqueue_jobs (with the job); as _give_back.
-- Plan: gates by key; the places of those above their limit.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._return_excess(of_gate_ids int[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
    v_job int[];
    v_queued int[];
    v_from bigint[];
BEGIN
    SELECT
        array_agg(x.batch_id),
        array_agg(x.job_id),
        array_agg(x.batch_id) FILTER (WHERE x.is_queued),
        array_agg(x.job_id) FILTER (WHERE x.is_queued)
    INTO v_batch, v_job, v_from, v_queued
    FROM (
        SELECT DISTINCT e.batch_id, e.job_id, e.is_queued
        FROM weft.gate g
        CROSS JOIN LATERAL (
            SELECT p.batch_id, p.job_id, q.job_id IS NULL AS is_queued, sum(p.cost) OVER w - p.cost AS before
            FROM weft.place p
            LEFT JOIN weft.ready_job q ON q.batch_id = p.batch_id
                AND q.job_id = p.job_id
                AND q.gate_set_id = 0
            LEFT JOIN weft.transport_offer o ON o.batch_id = p.batch_id
                AND o.job_id = p.job_id
                AND o.attempt IS NULL
            WHERE p.gate_id = g.gate_id AND (q.job_id IS NOT NULL OR o.offer_id IS NOT NULL)
            WINDOW w AS (
                ORDER BY q.job_id IS NULL, q.rank DESC, o.offer_id DESC, p.batch_id DESC, p.job_id DESC
            )
            ORDER BY q.job_id IS NULL, q.rank DESC, o.offer_id DESC, p.batch_id DESC, p.job_id DESC
            LIMIT g.n_taken - g.max_places
        ) e
        WHERE g.gate_id = ANY (of_gate_ids)
            AND g.n_taken > g.max_places
            AND e.before < g.n_taken - g.max_places
    ) x;
    IF v_queued IS NOT NULL THEN
        SELECT array_agg(l.batch_id), array_agg(l.job_id)
        INTO v_from, v_queued
        FROM unnest(v_from, v_queued) t (b, j)
        CROSS JOIN LATERAL (
            SELECT y.batch_id, y.job_id
            FROM weft.job y
            WHERE y.batch_id = t.b AND y.job_id = t.j AND y.state = STATE_QUEUED
            FOR NO KEY UPDATE SKIP LOCKED
        ) l;
        PERFORM weft._unqueue_jobs(v_from, v_queued, clock_timestamp());
    END IF;
    RETURN v_job IS NOT NULL AND weft._give_back(of_gate_ids, v_batch, v_job) > 0;
END $$;
