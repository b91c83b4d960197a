-- _offer_part: offer ready jobs of a queue to its transport, those first that a claim would take first: of
--   the users in `shares` each up to its share, or of all by load.
-- Safe to repeat: no.
-- For: offer_jobs, whose settings it has.
-- Locks: batch (shared, tried); as _pick; as _queue_jobs. It never waits.
-- Plan: as claim_jobs.
-- of_tenant_id: whose jobs; NULL: of all.
-- consumer: the most that one of them has.
-- Returns: how many.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._offer_part(
    consumer weft.worker_incarnation,
    of_tenant_id int,
    of_queue text,
    of_transport text,
    lanes int[],
    shares weft.shares,
    limit_jobs int
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_offer weft.offer;
    v_terms record;
    v_picked weft.picked;
    v_left int := limit_jobs;
BEGIN
    WHILE v_left > 0 LOOP
        v_offer := weft._next_offer(v_offer, consumer.pool_id, lanes, shares, shares IS NOT NULL);
        EXIT WHEN v_offer.batch_id IS NULL;
        -- Invariant 6, as in claim_jobs.
        CONTINUE WHEN v_offer.tenant_id <> of_tenant_id
            OR NOT pg_try_advisory_xact_lock_shared(v_offer.batch_id);
        SELECT * INTO v_terms FROM weft._batch_terms(v_offer.batch_id, v_offer.runnable_id <> 0);
        CONTINUE WHEN v_terms.is_closed IS NOT FALSE;
        v_picked := weft._pick(
            v_offer,
            consumer,
            v_terms.has_cancel,
            v_terms.has_switch,
            v_terms.lookahead_jobs,
            least(v_left, v_offer.share_jobs),
            NULL
        );
        CONTINUE WHEN v_picked.job_ids IS NULL;
        IF v_picked.cpu_m > v_offer.share_m THEN
            v_picked := weft._fit_budget(v_picked, v_picked.cpu_m, v_picked.memory_mib, v_offer.share_m, 1);
        END IF;
        PERFORM weft._queue_jobs(
            v_picked,
            v_offer,
            consumer.pool_id,
            of_queue,
            of_transport,
            of_tenant_id IS NOT NULL,
            clock_timestamp()
        );
        v_offer.share_m := v_offer.share_m - v_picked.cpu_m;
        v_left := v_left - cardinality(v_picked.job_ids);
    END LOOP;
    RETURN limit_jobs - v_left;
END $$;
