-- claim_offered: a worker has heard of these offers by messages of a queue: make its own what it may have,
--   and say what is with the others.
-- Safe to repeat: as claim_jobs; what a worker has got is `elsewhere` then.
-- Locks: incarnation (shared, tried); batch (shared, tried); as _claim_queued; as _announce.
--   It waits for no job.
-- Plan: everything by key. transport, tenant, queue: where the messages were; what they say is not believed.
-- Returns: one row per offer, in no fixed order. `yours`: with the attempt, as claim_jobs. `elsewhere`: it
--   became this attempt, which has not ended. `not_now`: it is offered still. `settled`: there is no such
--   offer (any more).
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.claim_offered(
    incarnation_id int,
    transport text,
    tenant text,
    queue text,
    batch_ids bigint[],
    job_ids int[],
    offer_ids bigint[],
    budget_cpu_m bigint,
    budget_memory_mib bigint,
    call bigint,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    answer text,
    offer_id bigint,
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
) LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_worker weft.worker_incarnation;
    v_known record;
    v_one record;
    v_fits bigint[];
    v_got bigint[] := '{}';
    v_cpu bigint := budget_cpu_m;
    v_memory bigint := budget_memory_mib;
BEGIN
    SELECT
        array_agg(m.o ORDER BY m.n) AS ids,
        array_agg(m.b ORDER BY m.n) AS batches,
        array_agg(m.j ORDER BY m.n) AS jobs,
        array_agg(o.attempt ORDER BY m.n) AS attempts,
        array_agg(o.lane_id ORDER BY m.n) AS lanes,
        array_agg(o.cpu_m ORDER BY m.n) AS cpus_m,
        array_agg(o.memory_mib ORDER BY m.n) AS memories_mib
    INTO v_known
    FROM (
        SELECT min(t.n) AS n, t.b, t.j, t.o
        FROM unnest(batch_ids, job_ids, offer_ids) WITH ORDINALITY t (b, j, o, n)
        GROUP BY t.b, t.j, t.o
    ) m
    LEFT JOIN LATERAL (
        SELECT x.attempt, y.lane_id, y.cpu_m, y.memory_mib
        FROM weft.transport_offer x
        CROSS JOIN LATERAL (
            SELECT j.*
            FROM weft.job j
            WHERE j.batch_id = x.batch_id
                AND j.job_id = x.job_id
                AND (
                    j.state = STATE_QUEUED AND x.attempt IS NULL
                        OR j.state = STATE_RUNNING AND j.attempt = x.attempt
                )
            OFFSET 0
        ) y
        WHERE x.offer_id = m.o
            AND x.batch_id = m.b
            AND x.job_id = m.j
            AND x.queue = claim_offered.queue
            AND x.transport = claim_offered.transport
            AND x.tenant_id = (SELECT t.tenant_id FROM weft.tenant t WHERE t.name = claim_offered.tenant)
        OFFSET 0
    ) o ON true;
    IF pg_try_advisory_xact_lock_shared(7703, claim_offered.incarnation_id) THEN
        SELECT i.*
        INTO v_worker
        FROM weft.worker_incarnation i
        WHERE i.incarnation_id = claim_offered.incarnation_id
            AND i.ended_at IS NULL
            AND NOT i.draining
            AND NOT i.cordoned
            AND NOT i.trying;
    END IF;
    IF v_worker.incarnation_id IS NOT NULL THEN
        FOR i IN 1..coalesce(cardinality(v_known.ids), 0) LOOP
            CONTINUE WHEN v_known.lanes[i] IS NULL
                OR v_known.attempts[i] IS NOT NULL
                OR v_known.cpus_m[i] > least(v_worker.cpu_m, v_cpu)
                OR v_known.memories_mib[i] > least(v_worker.memory_mib, v_memory);
            v_cpu := v_cpu - v_known.cpus_m[i];
            v_memory := v_memory - v_known.memories_mib[i];
            v_fits := v_fits || v_known.ids[i];
        END LOOP;
    END IF;
    FOR v_one IN
        SELECT t.b, t.l, array_agg(t.o ORDER BY t.n) AS ids
        FROM unnest(v_known.ids, v_known.batches, v_known.lanes) WITH ORDINALITY t (o, b, l, n)
        WHERE t.o = ANY (v_fits)
        GROUP BY t.b, t.l
        ORDER BY min(t.n)
    LOOP
        -- Invariant 6, as in claim_jobs.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock_shared(v_one.b);
        FOR answer, offer_id, batch_id, job_id, attempt, cpu_m, memory_mib, storage_mib, gpu, spec_first,
            runnable_id, chunk IN
            SELECT 'yours', c.*
            FROM weft._claim_queued(
                v_worker, v_one.b, v_one.l, v_one.ids, claim_offered.call, v_got = '{}', claim_offered.at
            ) c
        LOOP
            v_got := v_got || offer_id;
            RETURN NEXT;
        END LOOP;
    END LOOP;
    RETURN QUERY
    SELECT
        CASE WHEN t.l IS NULL THEN 'settled' WHEN t.a IS NOT NULL THEN 'elsewhere' ELSE 'not_now' END,
        t.o, t.b, t.j, t.a, NULL::bigint, NULL::bigint, NULL::bigint, NULL::int, NULL::int, NULL::bigint,
        NULL::bytea
    FROM unnest(v_known.ids, v_known.batches, v_known.jobs, v_known.lanes, v_known.attempts) t (o, b, j, l, a)
    WHERE t.o <> ALL (v_got) OR t.l IS NULL;
    IF v_got <> '{}' THEN
        PERFORM weft._announce();
    END IF;
END $$;
