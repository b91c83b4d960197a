-- _claim_queued: make queued jobs of one lane and batch attempts of a worker, and note which attempt became
--   of each offer. One that may not start now, that somebody has, or that this worker cannot run, stays as it
--   is.
-- Safe to repeat: no, as claim_jobs.
-- For: claim_offered, start_answered; they have locked the batch.
-- Plan: everything by key. It runs with the settings of its callers.
-- Locks: job (SKIP LOCKED); as _note_starts; transport_offer (with the job). Gates were passed before: a job
--   has its places.
-- Returns: one row per attempt, as _record_claim; `with_chunks` adds the specs of the first four if they are
--   small.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._claim_queued(
    worker weft.worker_incarnation,
    of_batch_id bigint,
    of_lane_id int,
    offer_ids bigint[],
    call bigint,
    with_chunks boolean,
    at timestamptz
) RETURNS TABLE (
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
) LANGUAGE plpgsql AS $$
DECLARE
    v_terms record;
    v_offers bigint[];
    v_jobs int[];
    v_tids tid[];
    v_room int;
    v_storage_mib bigint;
    v_gpu int;
    v_tenant_id int;
    v_card_id smallint := weft._rate_card_at(_claim_queued.at);
BEGIN
    SELECT * INTO v_terms FROM weft._batch_terms(of_batch_id, false);
    v_room := least(weft._lane_room(worker.incarnation_id, of_lane_id, '{}'), cardinality(offer_ids));
    IF v_terms.is_closed IS NOT FALSE
        OR v_room <= 0
        OR NOT weft._consumes(worker, of_lane_id)
        OR worker.offers ? 'timeout_s'
            AND NOT weft._ends_in_time(
                worker, (SELECT l.asks FROM weft.lane l WHERE l.lane_id = of_lane_id), clock_timestamp()
            )
    THEN
        RETURN;
    END IF;
    -- Offers and jobs are of one snapshot: a job that was withdrawn and offered again since then has been
    -- touched.
    SELECT array_agg(x.offer_id), array_agg(x.job_id), array_agg(x.tid)
    INTO v_offers, v_jobs, v_tids
    FROM (
        SELECT o.offer_id, y.*
        FROM unnest(_claim_queued.offer_ids) WITH ORDINALITY t (id, n)
        JOIN weft.transport_offer o ON o.offer_id = t.id AND o.batch_id = of_batch_id AND o.attempt IS NULL
        CROSS JOIN LATERAL (
            SELECT j.job_id, j.ctid AS tid
            FROM weft.job j
            WHERE j.batch_id = of_batch_id
                AND j.job_id = o.job_id
                AND j.state = STATE_QUEUED
                AND (NOT v_terms.has_cancel OR NOT weft._is_cancelled(of_batch_id, j.group_id, j.always_run))
                AND (NOT v_terms.has_switch OR NOT weft._is_closed(of_batch_id, j.group_id, j.job_id))
                AND weft._is_untouched(j.xmax, pg_current_snapshot())
            FOR UPDATE OF j SKIP LOCKED
        ) y
        ORDER BY t.n
        LIMIT v_room
    ) x;
    IF v_jobs IS NULL THEN
        RETURN;
    END IF;
    SELECT coalesce((l.amounts ->> 'storage_mib')::bigint, 0), coalesce((l.amounts ->> 'gpu')::int, 0)
    INTO v_storage_mib, v_gpu
    FROM weft.lane l
    WHERE l.lane_id = of_lane_id;
    SELECT b.tenant_id INTO v_tenant_id FROM weft.batch b WHERE b.batch_id = of_batch_id;
    RETURN QUERY
    WITH upd AS (
        -- Invariant 12, as in _record_claim.
        UPDATE weft.job j
        SET
            state = STATE_RUNNING,
            phase = PHASE_ASSIGNED,
            attempt = j.attempt + 1,
            incarnation_id = worker.incarnation_id,
            claimed_at = greatest(
                _claim_queued.at,
                (SELECT clock_timestamp()),
                j.ready_at,
                CASE
                    WHEN j.attempt > 0
                        THEN (
                            SELECT a.ended_at
                            FROM weft.attempt a
                            WHERE a.batch_id = j.batch_id AND a.job_id = j.job_id AND a.attempt = j.attempt
                        )
                END
            ),
            started_at = NULL,
            billed_ms = 0,
            rate_card_id = v_card_id
        WHERE j.ctid = ANY (v_tids)
        RETURNING j.job_id, j.attempt, j.cpu_m, j.memory_mib, j.shape_id, j.spec_first, j.group_id
    ),
    off AS (
        UPDATE weft.transport_offer o
        SET attempt = u.attempt
        FROM unnest(v_offers, v_jobs) t (id, job_id)
        JOIN upd u
        USING (job_id)
        WHERE o.offer_id = t.id
    ),
    cla AS (
        INSERT INTO weft.claim (incarnation_id, batch_id, lane_id, jobs, call)
        VALUES (worker.incarnation_id, of_batch_id, of_lane_id, v_jobs, _claim_queued.call)
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        VALUES (
            _claim_queued.at, v_tenant_id, of_batch_id, 'jobs.running', STATE_QUEUED, STATE_RUNNING, v_jobs
        )
    ),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_queued, n_running)
        SELECT v_tenant_id, of_batch_id, u.group_id, u.shape_id, worker.pool_id, -count(*), count(*)
        FROM upd u
        GROUP BY u.group_id, u.shape_id
    )
    SELECT
        t.id, of_batch_id, u.job_id, u.attempt, u.cpu_m::bigint, u.memory_mib::bigint, v_storage_mib, v_gpu,
        u.spec_first, 0::bigint,
        CASE
            WHEN with_chunks AND t.n <= 4
                THEN (
                    SELECT x.body
                    FROM weft.job_spec x
                    WHERE x.batch_id = of_batch_id
                        AND x.first_job = u.spec_first
                        AND octet_length(x.body) <= 8192
                )
        END
    FROM unnest(v_offers, v_jobs) WITH ORDINALITY t (id, job_id, n)
    JOIN upd u
    USING (job_id)
    ORDER BY t.n;
    IF v_terms.gated THEN
        PERFORM weft._note_starts(of_batch_id, v_jobs);
    END IF;
END $$;
