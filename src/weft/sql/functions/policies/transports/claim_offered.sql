-- claim_offered: a worker has heard of these offers by messages of a queue: make its own what it may have, and say what is with the others.
-- Called by: WorkerStore.claim_offered (worker agent).   Safe to repeat: as claim_jobs; what a worker has got is `elsewhere` then.
-- Locks: incarnation (shared, tried); batch (shared, tried); as _leave_queued; as _claim_queued; as _announce.
--   It waits for no job.
-- Plan: everything by key; as _claim_kept. transport, tenant, queue: where the messages were; what they say is not believed.
-- Returns: one row per offer, in no fixed order. `yours`: with the attempt, as claim_jobs. `elsewhere`: it became this attempt, which has
--   not ended. `not_now`: it is offered still. `settled`: there is no such offer (any more).
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.claim_offered(
    incarnation_id int, transport text, tenant text, queue text, batch_ids bigint[], job_ids int[], offer_ids bigint[],
    budget_cpu_m bigint, budget_memory_mib bigint, call bigint, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    answer text, offer_id bigint, batch_id bigint, job_id int, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint,
    gpu int, spec_first int, runnable_id bigint, chunk bytea
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp PLAN_BY_KEY PLAN_ONCE
AS $$
#variable_conflict use_column
DECLARE
    v_worker weft.worker_incarnation; v_one record; v_claimed record; v_n int := 0;
    v_cpu bigint := budget_cpu_m; v_memory bigint := budget_memory_mib;
BEGIN
    IF pg_try_advisory_xact_lock_shared(7703, claim_offered.incarnation_id) THEN
        SELECT i.* INTO v_worker FROM weft.worker_incarnation i
        WHERE i.incarnation_id = claim_offered.incarnation_id AND i.ended_at IS NULL AND NOT i.draining AND NOT i.cordoned
            AND NOT i.trying;
    END IF;
    FOR v_one IN
        SELECT m.o AS offer_id, m.b AS batch_id, m.j AS job_id, o.attempt, o.offer_id IS NOT NULL AS is_known
        FROM (SELECT DISTINCT t.b, t.j, t.o FROM unnest(batch_ids, job_ids, offer_ids) t (b, j, o)) m
        LEFT JOIN LATERAL (
            SELECT x.* FROM weft.transport_offer x
            WHERE x.offer_id = m.o AND x.batch_id = m.b AND x.job_id = m.j AND x.queue = claim_offered.queue
                AND x.transport = claim_offered.transport
                AND x.tenant_id = (SELECT t.tenant_id FROM weft.tenant t WHERE t.name = claim_offered.tenant)
                AND EXISTS (SELECT FROM weft.job j WHERE j.batch_id = x.batch_id AND j.job_id = x.job_id
                    AND (j.state = STATE_QUEUED AND x.attempt IS NULL OR j.state = STATE_RUNNING AND j.attempt = x.attempt))
            OFFSET 0) o ON true
        ORDER BY m.o
    LOOP
        answer := CASE WHEN NOT v_one.is_known THEN 'settled' WHEN v_one.attempt IS NOT NULL THEN 'elsewhere' ELSE 'not_now' END;
        offer_id := v_one.offer_id; batch_id := v_one.batch_id; job_id := v_one.job_id; attempt := v_one.attempt;
        cpu_m := NULL; memory_mib := NULL; storage_mib := NULL; gpu := NULL; spec_first := NULL; runnable_id := NULL; chunk := NULL;
        IF answer = 'not_now' AND v_worker.incarnation_id IS NOT NULL AND pg_try_advisory_xact_lock_shared(v_one.batch_id)
            AND weft._leave_queued(v_worker, v_one.offer_id, v_cpu, v_memory, claim_offered.at) THEN
            SELECT * INTO v_claimed FROM weft._claim_queued(v_worker, v_one.batch_id, v_one.job_id, v_one.offer_id, claim_offered.call,
                claim_offered.at);
            answer := CASE WHEN v_claimed.attempt IS NULL THEN 'settled' ELSE 'yours' END;
            attempt := v_claimed.attempt; cpu_m := v_claimed.cpu_m; memory_mib := v_claimed.memory_mib;
            storage_mib := v_claimed.storage_mib; gpu := v_claimed.gpu; spec_first := v_claimed.spec_first;
            runnable_id := v_claimed.runnable_id; chunk := v_claimed.chunk;
            v_cpu := v_cpu - coalesce(cpu_m, 0); v_memory := v_memory - coalesce(memory_mib, 0); v_n := v_n + 1;
        END IF;
        RETURN NEXT;
    END LOOP;
    IF v_n > 0 THEN
        PERFORM weft._announce();
    END IF;
END $$;
