-- _take_one: lock one ready job for a worker, if it may have it now. A worker without a number is one that is
--   about to be made.
-- Safe to repeat: no, it keeps its locks.
-- Plan: everything by key; as _pick_one.
-- Locks: batch (shared, tried); as _pick_one. It never waits.
-- Returns: the offer of this job, and what was picked: its job_ids are NULL if the job does not wait any
--   more, is locked, or needs amounts of its lane that are not free.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._take_one(
    worker weft.worker_incarnation,
    of_batch_id bigint,
    of_job_id int,
    OUT offer weft.offer,
    OUT picked weft.picked
) LANGUAGE plpgsql AS $$
DECLARE
    v_terms record;
BEGIN
    -- Invariant 6, as in claim_jobs.
    IF NOT pg_try_advisory_xact_lock_shared(of_batch_id) THEN
        RETURN;
    END IF;
    SELECT
        2, 0, b.user_id, j.tenant_id, -j.priority, j.batch_id, x.first_job, x.last_job, j.job_id,
        x.runnable_id, j.lane_id, j.cpu_m, 1
    INTO offer
    FROM weft.job j
    JOIN weft.batch b ON b.batch_id = j.batch_id
    CROSS JOIN LATERAL (
        SELECT 0 AS first_job, j.job_id AS last_job, 0::bigint AS runnable_id
        FROM weft.ready_job q
        WHERE j.listed
            AND q.batch_id = j.batch_id
            AND q.job_id = j.job_id
            AND q.gate_set_id = 0
            AND q.pool_id = worker.pool_id
        UNION ALL
        SELECT r.first_job, j.job_id, r.runnable_id
        FROM weft.runnable r
        WHERE NOT j.listed
            AND r.batch_id = j.batch_id
            AND r.gate_set_id = 0
            AND r.pool_id = worker.pool_id
            AND r.user_id = b.user_id
            AND r.lane_id = j.lane_id
            AND j.job_id BETWEEN r.low_job AND r.last_job
        LIMIT 1
    ) x
    WHERE j.batch_id = of_batch_id
        AND j.job_id = of_job_id
        AND j.state = STATE_READY
        -- The worker of a machine that was made for one job serves no lane.
        AND (
            worker.incarnation_id IS NULL
                OR worker.offers ? 'machine'
                OR EXISTS (
                    SELECT
                    FROM weft.worker_lane l
                    WHERE l.incarnation_id = worker.incarnation_id AND l.lane_id = j.lane_id
                )
        )
        AND (
            NOT coalesce(worker.offers ? 'timeout_s', false)
                OR worker.incarnation_id IS NULL
                OR weft._ends_in_time(
                    worker, (SELECT l.asks FROM weft.lane l WHERE l.lane_id = j.lane_id), clock_timestamp()
                )
        );
    SELECT * INTO v_terms FROM weft._batch_terms(offer.batch_id, offer.runnable_id <> 0);
    IF v_terms.is_closed IS NOT FALSE
        OR worker.incarnation_id IS NOT NULL
            AND offer.lane_id <> 0
            AND weft._lane_room(worker.incarnation_id, offer.lane_id, '{}') <= 0
    THEN
        RETURN;
    END IF;
    picked := weft._pick_one(offer, worker, v_terms.has_cancel, v_terms.has_switch);
END $$;
