-- offer_jobs: offer ready jobs to their transports: those that a claim would take first, as many as the consumers of each queue have free
--   slots, and a stock ahead, or as foreign programs have slots. The jobs are queued, and their offers due to be sent.
-- Called by: DriverStore.offer_jobs.   Safe to repeat: yes.
-- Locks: as _check_epoch; batch (shared, tried); as _pick; as _queue_jobs; as _announce. It never waits.
-- Plan: the lanes of transports, which are few; live workers that consume; as claim_jobs, whose settings it has.
-- stock_keys, stocks: how many each queue has ahead; one that is not named has as many as its consumers have slots.
-- Returns: of each queue with consumers, by its key: their slots, how many offers waited for them, and how many are new. Foreign
--   programs have no stock, and the key ''.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.offer_jobs(epoch bigint, transports text[], limit_jobs int, stock_keys text[], stocks int[])
RETURNS TABLE (key text, slots int, waiting int, offered int) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp PLAN_BY_KEY PLAN_ONCE
AS $$
#variable_conflict use_column
DECLARE
    v_queue record; v_offer weft.offer; v_terms record; v_picked weft.picked; v_worker weft.worker_incarnation; v_left int; v_n int := 0;
BEGIN
    PERFORM weft._check_epoch(offer_jobs.epoch);
    FOR v_queue IN SELECT * FROM weft._consumed_lanes(offer_jobs.transports) LOOP
        v_offer := NULL; offered := 0; slots := v_queue.slots; waiting := v_queue.waiting;
        key := CASE WHEN v_queue.tenant_id IS NULL THEN concat_ws(' ', v_queue.pool_id, v_queue.transport, v_queue.queue) ELSE '' END;
        v_left := greatest(slots - v_queue.busy, 0) - waiting + CASE WHEN v_queue.tenant_id IS NULL
            THEN coalesce(offer_jobs.stocks[array_position(offer_jobs.stock_keys, key)], slots) ELSE 0 END;
        v_left := least(v_left, offer_jobs.limit_jobs - v_n);
        v_worker.cpu_m := v_queue.cpu_m;
        v_worker.memory_mib := v_queue.memory_mib;
        v_worker.pool_id := v_queue.pool_id;
        WHILE v_left > 0 LOOP
            v_offer := weft._next_offer(v_offer, v_queue.pool_id, v_queue.lanes, NULL, false);
            EXIT WHEN v_offer.batch_id IS NULL;
            -- Invariant 6, as in claim_jobs.
            CONTINUE WHEN v_offer.tenant_id <> v_queue.tenant_id OR NOT pg_try_advisory_xact_lock_shared(v_offer.batch_id);
            SELECT * INTO v_terms FROM weft._batch_terms(v_offer.batch_id, v_offer.runnable_id <> 0);
            CONTINUE WHEN v_terms.is_closed IS NOT FALSE;
            v_picked := weft._pick(
                v_offer, v_worker, v_terms.has_cancel, v_terms.has_switch, v_terms.lookahead_jobs, v_left, NULL);
            CONTINUE WHEN v_picked.job_ids IS NULL;
            PERFORM weft._queue_jobs(v_picked, v_offer, v_queue.pool_id, v_queue.queue, v_queue.transport,
                v_queue.tenant_id IS NOT NULL, clock_timestamp());
            v_left := v_left - cardinality(v_picked.job_ids);
            offered := offered + cardinality(v_picked.job_ids);
        END LOOP;
        v_n := v_n + offered;
        RETURN NEXT;
    END LOOP;
    IF v_n > 0 THEN
        PERFORM weft._announce();
    END IF;
END $$;
