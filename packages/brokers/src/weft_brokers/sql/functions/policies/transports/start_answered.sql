-- start_answered: foreign programs say that they run, or have run, the jobs of these offers: each that is
--   still offered becomes an attempt of the worker `foreign` of its pool, and others were heard of.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; as _foreign_worker; incarnation (shared, tried); batch (shared, tried); as
--   _claim_queued; as start_attempts (the same rows); transport_offer (SKIP LOCKED). It waits for no job.
-- Plan: as _answered; as _claim_queued.
-- Returns: a word per offer, in order, the same for one that stands there twice: of a short job, start and
--   end come together. `runs`: it became an attempt. `not_now`: it is offered still. `settled`: there is no
--   such offer (any more).
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.start_answered(
    epoch bigint,
    transport text,
    tenant text,
    offer_ids bigint[],
    fences uuid[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS text[] LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_words text[] := array_fill('settled'::text, ARRAY[cardinality(offer_ids)]);
    v_one record;
    v_claimed record;
    v_worker weft.worker_incarnation;
    v_heard bigint[] := '{}';
BEGIN
    FOR v_one IN
        SELECT a.*
        FROM weft._answered(
            start_answered.transport, start_answered.tenant, start_answered.offer_ids, start_answered.fences
        ) a
        WHERE a.offer_id IS NOT NULL
    LOOP
        v_words[v_one.n] := CASE WHEN v_one.attempt IS NULL THEN 'not_now' ELSE 'runs' END;
        IF v_one.attempt IS NULL THEN
            v_worker := weft._foreign_worker(v_one.pool_id, false, start_answered.at);
            IF v_worker.incarnation_id IS NOT NULL
                AND pg_try_advisory_xact_lock_shared(7703, v_worker.incarnation_id)
                AND pg_try_advisory_xact_lock_shared(v_one.batch_id)
            THEN
                SELECT c.*
                INTO v_claimed
                FROM weft._claim_queued(
                    v_worker,
                    v_one.batch_id,
                    (
                        SELECT j.lane_id
                        FROM weft.job j
                        WHERE j.batch_id = v_one.batch_id AND j.job_id = v_one.job_id
                    ),
                    ARRAY[v_one.offer_id],
                    NULL,
                    false,
                    start_answered.at
                ) c;
                IF v_claimed.attempt IS NOT NULL THEN
                    v_words[v_one.n] := 'runs';
                    PERFORM weft.start_attempts(
                        v_worker.incarnation_id,
                        ARRAY[v_one.batch_id],
                        ARRAY[v_one.job_id],
                        ARRAY[v_claimed.attempt],
                        ARRAY[0::bigint],
                        start_answered.at
                    );
                END IF;
            END IF;
        END IF;
        IF v_words[v_one.n] = 'runs' THEN
            v_heard := v_heard || v_one.offer_id;
        END IF;
    END LOOP;
    UPDATE weft.transport_offer o
    SET answered_at = start_answered.at
    WHERE o.offer_id IN (
        SELECT x.offer_id
        FROM weft.transport_offer x
        WHERE x.offer_id = ANY (v_heard)
        ORDER BY x.offer_id
        FOR UPDATE SKIP LOCKED
    );
    RETURN ARRAY(
        SELECT v_words[min(u.n) OVER (PARTITION BY u.o, u.f)]
        FROM unnest(start_answered.offer_ids, start_answered.fences) WITH ORDINALITY u (o, f, n)
        ORDER BY u.n
    );
END $$;
