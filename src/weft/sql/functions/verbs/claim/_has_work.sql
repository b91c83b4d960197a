-- _has_work: whether a claim of this worker would find a job. It skips what claim_jobs skips, by the same
--   definitions (_next_offer, _batch_terms, _has_claimable, _lane_room); otherwise a worker would never
--   sleep, or never wake.
-- Plan: as claim_jobs. One offer at a time: a single statement would read the jobs of a cancelled batch,
--   perhaps a million, before it skips the batch.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_work(of_incarnation_id int) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_worker weft.worker_incarnation;
    v_offer weft.offer;
    v_terms record;
    v_lanes int[];
    v_short int[] := '{}';
BEGIN
    SELECT i.*
    INTO v_worker
    FROM weft.worker_incarnation i
    WHERE i.incarnation_id = of_incarnation_id AND i.ended_at IS NULL AND NOT i.draining AND NOT i.cordoned;
    -- Of a thousand sleepers, a hundred ask each second: most often nobody has work.
    IF NOT EXISTS (SELECT FROM weft.user_share s WHERE s.pool_id = v_worker.pool_id AND s.active) THEN
        RETURN false;
    END IF;
    v_lanes := CASE
        WHEN v_worker.offers ? 'timeout_s' THEN weft._open_lanes(v_worker, clock_timestamp())
        ELSE ARRAY(SELECT l.lane_id FROM weft.worker_lane l WHERE l.incarnation_id = v_worker.incarnation_id)
    END;
    LOOP
        v_offer := weft._next_offer(v_offer, v_worker.pool_id, v_lanes, NULL, false);
        EXIT WHEN v_offer.batch_id IS NULL;
        SELECT * INTO v_terms FROM weft._batch_terms(v_offer.batch_id, v_offer.runnable_id <> 0);
        CONTINUE WHEN v_terms.is_closed IS NOT FALSE;
        CONTINUE WHEN NOT weft._has_claimable(
            v_offer, v_worker, v_terms.has_cancel, v_terms.has_switch, v_terms.lookahead_jobs
        );
        IF v_offer.lane_id = 0 OR weft._lane_room(v_worker.incarnation_id, v_offer.lane_id, v_short) > 0 THEN
            RETURN true;
        END IF;
        v_short := v_short || v_offer.lane_id;
    END LOOP;
    RETURN false;
END $$;
