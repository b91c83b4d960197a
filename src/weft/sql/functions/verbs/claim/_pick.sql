-- _pick: lock and read up to limit_jobs jobs of an offer that a worker may claim. A hint gives the number at
--   which to start in a range, or to begin to skip what others have claimed since; jobs below it come later.
-- Safe to repeat: no, it keeps its locks; rows that another transaction has touched are skipped.
-- Locks: job (SKIP LOCKED); ready_job (SKIP LOCKED).
-- Plan: as _skip_touched; a range by the key of job, listed jobs by the key of ready_job, then job by key. It
--   runs with the settings of its caller.
-- Returns: the locked jobs.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._pick(
    offer weft.offer,
    worker weft.worker_incarnation,
    has_cancel boolean,
    has_switch boolean,
    lookahead_jobs int,
    limit_jobs int,
    hint_job int
) RETURNS weft.picked LANGUAGE plpgsql AS $$
DECLARE
    v_picked weft.picked;
    v_snapshot pg_snapshot := pg_current_snapshot();
    v_from int := greatest(offer.low_job, hint_job);
    v_to int;
BEGIN
    IF hint_job IS NOT NULL THEN
        v_from := weft._skip_touched(offer, v_from, v_snapshot);
    END IF;
    v_to := least(offer.last_job, v_from::bigint + lookahead_jobs);
    IF offer.runnable_id <> 0 THEN
        SELECT
            array_agg(p.job_id),
            array_agg(p.tid),
            NULL::tid[],
            array_agg(p.cpu_m),
            array_agg(p.memory_mib),
            sum(p.cpu_m),
            sum(p.memory_mib)
        INTO v_picked
        FROM (
            SELECT x.*
            FROM (VALUES (v_from, v_to), (offer.low_job, v_from - 1)) s (first_job, last_job)
            CROSS JOIN LATERAL (
                SELECT j.ctid AS tid, j.job_id, j.cpu_m, j.memory_mib
                FROM weft.job j
                CROSS JOIN LATERAL weft._may_claim(
                    j, offer.batch_id, worker.cpu_m, worker.memory_mib, has_cancel, has_switch
                )
                WHERE j.batch_id = offer.batch_id
                    AND j.job_id >= s.first_job
                    AND j.job_id <= s.last_job
                    AND NOT j.listed
                    AND j.lane_id = offer.lane_id
                    AND weft._is_untouched(j.xmax, v_snapshot)
                ORDER BY j.job_id
                LIMIT limit_jobs
                FOR UPDATE OF j SKIP LOCKED
            ) x
            LIMIT limit_jobs
        ) p;
    ELSE
        SELECT
            array_agg(p.job_id),
            array_agg(p.tid),
            array_agg(p.queue_tid),
            array_agg(p.cpu_m),
            array_agg(p.memory_mib),
            sum(p.cpu_m),
            sum(p.memory_mib)
        INTO v_picked
        FROM (
            SELECT q.ctid AS queue_tid, x.*
            FROM weft.ready_job q
            -- Lock the job's row now or skip it: a claim that waited here while it holds other rows could
            -- block others.
            CROSS JOIN LATERAL (
                SELECT j.ctid AS tid, j.job_id, j.cpu_m, j.memory_mib
                FROM weft.job j
                CROSS JOIN LATERAL weft._may_claim(
                    j, offer.batch_id, worker.cpu_m, worker.memory_mib, has_cancel, has_switch
                )
                WHERE j.batch_id = q.batch_id
                    AND j.job_id = q.job_id
                    AND weft._is_untouched(j.xmax, v_snapshot)
                FOR UPDATE OF j SKIP LOCKED
            ) x
            WHERE q.gate_set_id = 0
                AND q.pool_id = worker.pool_id
                AND q.user_id = offer.user_id
                AND q.lane_id = offer.lane_id
                AND q.rank = offer.rank
                AND q.batch_id = offer.batch_id
                AND (q.rank, q.batch_id, q.job_id) <= (
                    offer.rank, offer.batch_id, v_to
                )  -- so that only this index is used
            ORDER BY q.job_id
            LIMIT limit_jobs
            FOR UPDATE OF q SKIP LOCKED
        ) p;
    END IF;
    RETURN v_picked;
END $$;
