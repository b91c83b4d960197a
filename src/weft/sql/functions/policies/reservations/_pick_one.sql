-- _pick_one: lock and read one job, the low one of an offer, if a worker may claim it.
-- Safe to repeat: no, it keeps its locks.
-- Plan: both rows by key.
-- Locks: job (SKIP LOCKED); ready_job (SKIP LOCKED).
-- Returns: as _pick.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._pick_one(
    offer weft.offer, worker weft.worker_incarnation, has_cancel boolean, has_switch boolean
) RETURNS weft.picked LANGUAGE plpgsql AS $$
DECLARE
    v_picked weft.picked;
BEGIN
    SELECT
        ARRAY[p.job_id],
        ARRAY[p.tid],
        ARRAY[p.queue_tid],
        ARRAY[p.cpu_m],
        ARRAY[p.memory_mib],
        p.cpu_m,
        p.memory_mib
    INTO v_picked
    FROM (
        SELECT x.*, q.queue_tid
        FROM (
            SELECT j.ctid AS tid, j.job_id, j.cpu_m, j.memory_mib, j.listed
            FROM weft.job j
            CROSS JOIN LATERAL weft._may_claim(
                j, offer.batch_id, worker.cpu_m, worker.memory_mib, has_cancel, has_switch
            )
            WHERE j.batch_id = offer.batch_id
                AND j.job_id = offer.low_job
                AND j.listed = (offer.runnable_id = 0)
                AND weft._is_untouched(j.xmax, pg_current_snapshot())
            FOR UPDATE OF j SKIP LOCKED
        ) x
        LEFT JOIN LATERAL (
            SELECT y.ctid AS queue_tid
            FROM weft.ready_job y
            WHERE y.batch_id = offer.batch_id AND y.job_id = offer.low_job AND y.gate_set_id = 0 AND x.listed
            FOR UPDATE SKIP LOCKED
        ) q ON true
        WHERE q.queue_tid IS NOT NULL OR NOT x.listed
    ) p;
    RETURN v_picked;
END $$;
