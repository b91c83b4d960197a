-- claim_reserved: give a worker the job that it is kept for, as a new attempt, whatever comes before that job and whatever is free: the
--   worker starts nothing else until it has room for it.
-- Called by: Store.claim_reserved (worker agent).   Safe to repeat: as claim_jobs.
-- Locks: incarnation (shared, tried); batch (shared, tried); as _pick_one; as _announce. It never waits.
-- Plan: everything by key; as _pick.
-- Returns: as claim_jobs; no row if the job does not wait any more, is locked, or needs amounts of its lane that are not free yet.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.claim_reserved(incarnation_id int, call bigint DEFAULT NULL, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (
    batch_id bigint, job_id int, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu int,
    spec_first int, runnable_id bigint, chunk bytea
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    v_worker weft.worker_incarnation; v_kept weft.reservation; v_offer weft.offer; v_terms record; v_picked weft.picked;
    v_rate_card smallint;
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(7703, claim_reserved.incarnation_id) THEN
        RETURN;
    END IF;
    SELECT i.* INTO v_worker FROM weft.worker_incarnation i
    WHERE i.incarnation_id = claim_reserved.incarnation_id AND i.ended_at IS NULL AND NOT i.draining AND NOT i.cordoned;
    SELECT r.* INTO v_kept FROM weft.reservation r WHERE r.incarnation_id = v_worker.incarnation_id;
    -- Invariant 6, as in claim_jobs.
    IF v_kept.batch_id IS NULL OR NOT pg_try_advisory_xact_lock_shared(v_kept.batch_id) THEN
        RETURN;
    END IF;
    SELECT 2, 0, b.user_id, j.tenant_id, -j.priority, j.batch_id, x.first_job, x.last_job, j.job_id, x.runnable_id, j.lane_id, j.cpu_m, 1
    INTO v_offer
    FROM weft.job j JOIN weft.batch b ON b.batch_id = j.batch_id
    CROSS JOIN LATERAL (
        SELECT 0 AS first_job, j.job_id AS last_job, 0::bigint AS runnable_id FROM weft.ready_job q
        WHERE j.listed AND q.batch_id = j.batch_id AND q.job_id = j.job_id AND q.gate_set_id = 0 AND q.pool_id = v_worker.pool_id
        UNION ALL
        SELECT r.first_job, j.job_id, r.runnable_id FROM weft.runnable r
        WHERE NOT j.listed AND r.batch_id = j.batch_id AND r.gate_set_id = 0 AND r.pool_id = v_worker.pool_id AND r.user_id = b.user_id
          AND r.lane_id = j.lane_id AND j.job_id BETWEEN r.low_job AND r.last_job
        LIMIT 1) x
    WHERE j.batch_id = v_kept.batch_id AND j.job_id = v_kept.job_id AND j.state = STATE_READY
      AND EXISTS (SELECT FROM weft.worker_lane l WHERE l.incarnation_id = v_worker.incarnation_id AND l.lane_id = j.lane_id);
    SELECT * INTO v_terms FROM weft._batch_terms(v_offer.batch_id, v_offer.runnable_id <> 0);
    IF v_terms.is_closed IS NOT FALSE OR v_offer.lane_id <> 0
        AND weft._lane_room(claim_reserved.incarnation_id, v_offer.lane_id, '{}') <= 0 THEN
        RETURN;
    END IF;
    v_picked := weft._pick_one(v_offer, v_worker, v_terms.has_cancel, v_terms.has_switch);
    IF v_picked.job_ids IS NULL THEN
        RETURN;
    END IF;
    SELECT c.rate_card_id INTO v_rate_card FROM weft.rate_card c
    WHERE c.valid_from <= claim_reserved.at ORDER BY c.valid_from DESC LIMIT 1;
    RETURN QUERY
    SELECT * FROM weft._record_claim(
        v_picked, v_offer, claim_reserved.incarnation_id, v_worker.pool_id, v_rate_card, claim_reserved.call, true, claim_reserved.at);
    PERFORM weft._announce();
END $$;
