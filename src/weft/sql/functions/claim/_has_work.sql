-- _has_work: whether a claim of this worker would find a job. It skips what claim_jobs skips, by the same definitions (_next_offer,
--   _batch_terms, _may_claim); otherwise a worker would never sleep, or never wake.
-- Called by: wait_for_work, heartbeat.   Safe to repeat: yes, it only reads.
-- Plan: as claim_jobs. One offer at a time: a single statement would read the jobs of a cancelled batch, perhaps a million, before it skips
--   the batch.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_work(of_incarnation_id int) RETURNS boolean LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    v_worker weft.worker_incarnation; v_offer weft.offer; v_terms record; v_to int; v_lanes int[]; v_short int[] := '{}';
BEGIN
    SELECT i.* INTO v_worker FROM weft.worker_incarnation i
    WHERE i.incarnation_id = of_incarnation_id AND i.ended_at IS NULL AND NOT i.draining;
    v_lanes := ARRAY(SELECT l.lane_id FROM weft.worker_lane l WHERE l.incarnation_id = v_worker.incarnation_id);
    LOOP
        v_offer := weft._next_offer(v_offer, v_worker.pool_id, v_lanes, false);
        EXIT WHEN v_offer.batch_id IS NULL;
        SELECT * INTO v_terms FROM weft._batch_terms(v_offer.batch_id, v_offer.runnable_id <> 0);
        CONTINUE WHEN v_terms.is_closed IS NOT FALSE;
        IF v_offer.lane_id <> 0 AND weft._lane_room(v_worker.incarnation_id, v_offer.lane_id, v_short) <= 0 THEN
            v_short := v_short || v_offer.lane_id;
            CONTINUE;
        END IF;
        v_to := least(v_offer.last_job, v_offer.low_job::bigint + v_terms.lookahead_jobs);
        IF v_offer.runnable_id <> 0 THEN
            IF EXISTS (
                SELECT FROM weft.job j
                CROSS JOIN LATERAL weft._may_claim(
                    j, v_offer.batch_id, v_worker.cpu_m, v_worker.memory_mib, v_terms.has_cancel, v_terms.has_switch)
                WHERE j.batch_id = v_offer.batch_id AND j.job_id BETWEEN v_offer.low_job AND v_to AND NOT j.listed
                  AND j.lane_id = v_offer.lane_id) THEN
                RETURN true;
            END IF;
        ELSIF EXISTS (
            SELECT FROM weft.ready_job q
            JOIN weft.job j ON j.batch_id = q.batch_id AND j.job_id = q.job_id
            CROSS JOIN LATERAL weft._may_claim(
                j, v_offer.batch_id, v_worker.cpu_m, v_worker.memory_mib, v_terms.has_cancel, v_terms.has_switch)
            WHERE q.gate_set_id = 0 AND q.pool_id = v_worker.pool_id AND q.user_id = v_offer.user_id AND q.lane_id = v_offer.lane_id
              AND q.rank = v_offer.rank AND q.batch_id = v_offer.batch_id
              AND (q.rank, q.batch_id, q.job_id) <= (v_offer.rank, v_offer.batch_id, v_to)) THEN  -- so that only this index is used
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;
