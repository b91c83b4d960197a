-- _fill_gap: claim jobs that fit into a budget while a job waits for room on a worker: for a kept one those
--   whose time limits end them within some seconds (NULL: whatever their limits).
-- Safe to repeat: no, as claim_jobs.
-- Locks: batch (shared, tried); as _pick; as _note_starts.
-- Plan: the lanes of the worker whose limits are short; then as claim_jobs, users by load; 5,000 jobs of each
--   of the first 50 offers that have none that fits. It runs with the settings of its caller.
-- passed_user, passed_priority: whose the waiting job is: nothing of that user with a lower priority passes
--   it. NULL: anything may.
-- Returns: as _record_claim.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._fill_gap(
    worker weft.worker_incarnation,
    within_s double precision,
    budget_cpu_m bigint,
    budget_memory_mib bigint,
    limit_jobs int,
    rate_card_id smallint,
    call bigint,
    at timestamptz,
    passed_user int DEFAULT NULL,
    passed_priority smallint DEFAULT NULL
) RETURNS TABLE (
    batch_id bigint,
    job_id int,
    attempt smallint,
    cpu_m bigint,
    memory_mib bigint,
    storage_mib bigint,
    gpu int,
    spec_first int,
    runnable_id bigint,
    chunk bytea
) LANGUAGE plpgsql AS $$
DECLARE
    v_offer weft.offer;
    v_terms record;
    v_picked weft.picked;
    v_room int;
    v_cpu bigint := budget_cpu_m;
    v_memory bigint := budget_memory_mib;
    v_left int := limit_jobs;
    v_tries int := 50;
    v_lanes int[] := ARRAY(
        SELECT w.lane_id
        FROM weft.worker_lane w
        LEFT JOIN weft.lane l
        USING (lane_id)
        WHERE w.incarnation_id = worker.incarnation_id
            AND (
                NOT coalesce(worker.offers ? 'timeout_s', false)
                    OR weft._ends_in_time(worker, l.asks, _fill_gap.at)
            )
            AND (within_s IS NULL OR (weft._limit_range(l.asks)).at_most_s <= within_s)
    );
BEGIN
    WHILE v_left > 0 AND v_tries > 0 AND v_lanes <> '{}' LOOP
        v_offer := weft._next_offer(v_offer, worker.pool_id, v_lanes, NULL, false);
        EXIT WHEN v_offer.batch_id IS NULL;
        CONTINUE WHEN v_offer.user_id = passed_user AND v_offer.rank > -passed_priority;
        -- Invariant 6, as in claim_jobs.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock_shared(v_offer.batch_id);
        SELECT * INTO v_terms FROM weft._batch_terms(v_offer.batch_id, v_offer.runnable_id <> 0);
        CONTINUE WHEN v_terms.is_closed IS NOT FALSE;
        v_room := least(
            v_left,
            CASE
                WHEN v_offer.lane_id <> 0 THEN weft._lane_room(worker.incarnation_id, v_offer.lane_id, '{}')
            END
        );
        CONTINUE WHEN v_room <= 0;
        v_tries := v_tries - 1;
        -- those of an offer that fit, whatever its first one needs
        worker.cpu_m := v_cpu;
        worker.memory_mib := v_memory;
        v_picked := weft._pick(
            v_offer,
            worker,
            v_terms.has_cancel,
            v_terms.has_switch,
            least(v_terms.lookahead_jobs, 5000),
            v_room,
            NULL
        );
        CONTINUE WHEN v_picked.job_ids IS NULL;
        v_tries := v_tries + 1;
        v_picked := weft._fit_budget(v_picked, v_cpu, v_memory, v_cpu, 0);
        CONTINUE WHEN v_picked.job_ids = '{}';
        RETURN QUERY
        SELECT *
        FROM weft._record_claim(
            v_picked,
            v_offer,
            worker.incarnation_id,
            worker.pool_id,
            _fill_gap.rate_card_id,
            _fill_gap.call,
            true,
            _fill_gap.at
        );
        IF v_terms.gated AND v_offer.runnable_id = 0 THEN
            PERFORM weft._note_starts(v_offer.batch_id, v_picked.job_ids);
        END IF;
        v_left := v_left - cardinality(v_picked.job_ids);
        v_cpu := v_cpu - v_picked.cpu_m;
        v_memory := v_memory - v_picked.memory_mib;
    END LOOP;
END $$;
