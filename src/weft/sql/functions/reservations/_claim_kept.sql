-- _claim_kept: claim the job that a worker is kept for, whatever comes before that job and whatever is free.
-- Called by: claim_reserved.   Safe to repeat: no, as claim_jobs.
-- Locks: batch (shared, tried); as _pick_one.   Plan: everything by key; as _pick_one. It runs with the settings of its caller.
-- Returns: as _record_claim; no row if the job does not wait any more, is locked, or needs amounts of its lane that are not free yet.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._claim_kept(
    worker weft.worker_incarnation, kept weft.reservation, rate_card_id smallint, call bigint, at timestamptz
) RETURNS TABLE (
    batch_id bigint, job_id int, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu int,
    spec_first int, runnable_id bigint, chunk bytea
) LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_offer weft.offer; v_terms record; v_picked weft.picked;
BEGIN
    -- Invariant 6, as in claim_jobs.
    IF NOT pg_try_advisory_xact_lock_shared(kept.batch_id) THEN
        RETURN;
    END IF;
    SELECT 2, 0, b.user_id, j.tenant_id, -j.priority, j.batch_id, x.first_job, x.last_job, j.job_id, x.runnable_id, j.lane_id, j.cpu_m, 1
    INTO v_offer
    FROM weft.job j JOIN weft.batch b ON b.batch_id = j.batch_id
    CROSS JOIN LATERAL (
        SELECT 0 AS first_job, j.job_id AS last_job, 0::bigint AS runnable_id FROM weft.ready_job q
        WHERE j.listed AND q.batch_id = j.batch_id AND q.job_id = j.job_id AND q.gate_set_id = 0 AND q.pool_id = worker.pool_id
        UNION ALL
        SELECT r.first_job, j.job_id, r.runnable_id FROM weft.runnable r
        WHERE NOT j.listed AND r.batch_id = j.batch_id AND r.gate_set_id = 0 AND r.pool_id = worker.pool_id AND r.user_id = b.user_id
          AND r.lane_id = j.lane_id AND j.job_id BETWEEN r.low_job AND r.last_job
        LIMIT 1) x
    WHERE j.batch_id = kept.batch_id AND j.job_id = kept.job_id AND j.state = STATE_READY
      AND EXISTS (SELECT FROM weft.worker_lane l WHERE l.incarnation_id = worker.incarnation_id AND l.lane_id = j.lane_id);
    SELECT * INTO v_terms FROM weft._batch_terms(v_offer.batch_id, v_offer.runnable_id <> 0);
    IF v_terms.is_closed IS NOT FALSE OR v_offer.lane_id <> 0
        AND weft._lane_room(worker.incarnation_id, v_offer.lane_id, '{}') <= 0 THEN
        RETURN;
    END IF;
    v_picked := weft._pick_one(v_offer, worker, v_terms.has_cancel, v_terms.has_switch);
    IF v_picked.job_ids IS NOT NULL THEN
        RETURN QUERY
        SELECT * FROM weft._record_claim(
            v_picked, v_offer, worker.incarnation_id, worker.pool_id, _claim_kept.rate_card_id, _claim_kept.call, true, _claim_kept.at);
    END IF;
END $$;
