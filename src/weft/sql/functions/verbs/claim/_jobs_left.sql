-- _jobs_left: how many ready jobs a claim left behind, after the last one that it took, as far as at_most.
-- Safe to repeat: yes, it only reads. Jobs that others are claiming just now count.
-- Plan: by key; of a range at most 4 * at_most jobs, and at most 8 offers: if there may be more, they count
--   as at_most.
-- stopped_at: the offer with which the claim ended; its batch_id is NULL if no work was left.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._jobs_left(
    stopped_at weft.offer, after_job int, of_pool_id int, lanes int[], shares weft.shares, at_most int
) RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_offer weft.offer := stopped_at;
    v_after int := after_job;
    v_n int := 0;
    v_seen int;
    v_found int;
BEGIN
    FOR i IN 1..8 LOOP
        IF v_offer.batch_id IS NULL THEN
            RETURN v_n;
        ELSIF v_offer.runnable_id <> 0 THEN
            SELECT count(*), count(*) FILTER (WHERE x.is_ready)
            INTO v_seen, v_found
            FROM (
                SELECT j.state = STATE_READY AND NOT j.listed AND j.lane_id = v_offer.lane_id AS is_ready
                FROM weft.job j
                WHERE j.batch_id = v_offer.batch_id
                    AND j.job_id > greatest(v_after, v_offer.low_job - 1)
                    AND j.job_id <= v_offer.last_job
                ORDER BY j.job_id
                LIMIT 4 * at_most
            ) x;
            v_n := v_n + CASE WHEN v_seen = 4 * at_most THEN at_most ELSE v_found END;
        ELSE
            SELECT v_n + count(*)
            INTO v_n
            FROM (
                SELECT
                FROM weft.ready_job q
                WHERE q.gate_set_id = 0
                    AND q.pool_id = of_pool_id
                    AND q.user_id = v_offer.user_id
                    AND q.lane_id = v_offer.lane_id
                    AND q.rank = v_offer.rank
                    AND q.batch_id = v_offer.batch_id
                    AND (q.rank, q.batch_id, q.job_id) > (
                        v_offer.rank, v_offer.batch_id, v_after
                    )  -- so that only this index is used
                ORDER BY q.job_id
                LIMIT at_most
            ) x;
        END IF;
        IF v_n >= at_most THEN
            RETURN at_most;
        END IF;
        v_offer := weft._next_offer(v_offer, of_pool_id, lanes, shares, false);
        v_after := 0;
    END LOOP;
    RETURN CASE WHEN v_offer.batch_id IS NULL THEN v_n ELSE at_most END;
END $$;
