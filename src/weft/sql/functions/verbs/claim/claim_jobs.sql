-- claim_jobs: give up to limit_jobs ready jobs to a worker, as new attempts.
-- Safe to repeat: no. If a reply is lost, its jobs come back when the worker is lost or at a heartbeat:
--   `call` numbers a worker's claims, and its heartbeat names those whose replies arrived.
-- Locks: incarnation (shared, tried); batch (shared, tried); as _pick; as _may_try; as _note_starts; as
--   _note_claim; as _announce. It never waits.
-- Plan: users by load, then their work by priority and age: ready_job and runnable by key, job by key from
--   the hint on. Its steps (_fair_shares, _next_offer, _batch_terms, _has_claimable, _pick, _fit_budget,
--   _leave_to_sleeper, _record_claim) run with the settings of this function and have none of their own.
-- Fair share: as _fair_shares; the last job of a share is taken whole. What users leave of a budget that was
--   not enough for all is shared once more, among the others; what is left then goes to all by load. A worker
--   that asks for more than it has keeps a stock of short jobs: that is of one user for 50 jobs, and if half
--   of them are found in the shares, the claim does not look for others.
-- Returns: one row per attempt, in queue order; no rows if nothing fits. The first four include their specs
--   if these are small, which saves a call before a single job can start. The first job may exceed the budget
--   if the whole worker can hold it and no worker that sleeps has room for it; otherwise total cpu and memory
--   stay within the budget.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.claim_jobs(
    incarnation_id int,
    budget_cpu_m bigint,
    budget_memory_mib bigint,
    limit_jobs int,
    hint_runnable bigint[] DEFAULT '{}',
    hint_job int[] DEFAULT '{}',
    call bigint DEFAULT NULL,
    at timestamptz DEFAULT clock_timestamp()
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
) LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_worker record;
    v_offer weft.offer;
    v_terms record;
    v_picked weft.picked;
    v_cpu bigint := claim_jobs.budget_cpu_m;
    v_shared bigint := v_cpu;
    v_memory bigint := claim_jobs.budget_memory_mib;
    -- of all; of this offer
    v_left int := claim_jobs.limit_jobs;
    v_limit int;
    v_found int;
    v_fit int;
    -- claimed by this call; lanes that had no room
    v_n int := 0;
    v_short int[] := '{}';
    v_done boolean;
BEGIN
    -- A transaction that ends the incarnation waits for this lock, or we see its end: no claim commits unseen
    -- afterwards.
    IF NOT pg_try_advisory_xact_lock_shared(7703, claim_jobs.incarnation_id) THEN
        RETURN;
    END IF;
    SELECT
        i AS itself,
        i.pool_id,
        i.waiting,
        i.trying,
        (
            SELECT c.rate_card_id
            FROM weft.rate_card c
            WHERE c.valid_from <= claim_jobs.at
            ORDER BY c.valid_from DESC
            LIMIT 1
        ),
        CASE
            WHEN (
                SELECT count(*) > 1
                FROM (SELECT FROM weft.user_share s WHERE s.pool_id = i.pool_id AND s.active LIMIT 2) x
            )
                THEN weft._fair_shares(i.pool_id, v_cpu, coalesce(t.stock, 64))
        END AS shares,
        CASE
            WHEN i.offers ? 'timeout_s' THEN weft._open_lanes(i, claim_jobs.at)
            ELSE ARRAY(SELECT l.lane_id FROM weft.worker_lane l WHERE l.incarnation_id = i.incarnation_id)
        END AS lanes,
        t.stock
    INTO v_worker
    FROM weft.worker_incarnation i
    CROSS JOIN LATERAL (SELECT CASE WHEN v_cpu > i.cpu_m THEN (v_left + 49) / 50 END) t (stock)
    WHERE i.incarnation_id = claim_jobs.incarnation_id
        AND i.ended_at IS NULL
        AND NOT i.draining
        AND NOT i.cordoned
        AND (NOT i.trying OR weft._may_try(i.incarnation_id));
    IF NOT FOUND THEN
        RETURN;
    END IF;
    WHILE v_left > 0 LOOP
        v_offer := weft._next_offer(v_offer, v_worker.pool_id, v_worker.lanes, v_worker.shares, true);
        IF v_offer.batch_id IS NULL THEN
            EXIT WHEN v_worker.shares IS NULL
                OR v_worker.stock IS NOT NULL AND 2 * v_left <= claim_jobs.limit_jobs;
            v_worker.shares := CASE
                WHEN v_cpu > 0 AND v_shared <= (SELECT max(u) FROM unnest((v_worker.shares).upto_m) u)
                    THEN weft._fair_shares(
                        v_worker.pool_id, v_cpu, coalesce(v_worker.stock, 64), left_by => v_offer.left_by
                    )
            END;
            v_shared := NULL;
            v_offer := NULL;
            CONTINUE;
        END IF;
        -- Invariant 6: cancels and holds take this lock exclusively: they wait for us or we see their row.
        CONTINUE WHEN NOT pg_try_advisory_xact_lock_shared(v_offer.batch_id);
        SELECT * INTO v_terms FROM weft._batch_terms(v_offer.batch_id, v_offer.runnable_id <> 0);
        CONTINUE WHEN v_terms.is_closed IS NOT FALSE;
        v_fit := CASE WHEN v_worker.waiting THEN weft._jobs_that_fit(v_offer, v_cpu, v_memory) END;
        v_limit := least(v_left, v_offer.share_jobs, v_fit, CASE WHEN v_worker.trying THEN 1 END);
        IF v_offer.lane_id <> 0 THEN
            v_limit := least(v_limit, weft._lane_room(claim_jobs.incarnation_id, v_offer.lane_id, v_short));
            IF v_limit <= 0 THEN
                -- Only a job that may be claimed keeps later lanes from the amounts that it needs.
                v_short := v_short || ARRAY(
                    SELECT v_offer.lane_id
                    WHERE weft._has_claimable(
                        v_offer,
                        v_worker.itself,
                        v_terms.has_cancel,
                        v_terms.has_switch,
                        v_terms.lookahead_jobs
                    )
                );
                CONTINUE;
            END IF;
        END IF;
        v_picked := weft._pick(
            v_offer,
            v_worker.itself,
            v_terms.has_cancel,
            v_terms.has_switch,
            v_terms.lookahead_jobs,
            v_limit,
            claim_jobs.hint_job[array_position(claim_jobs.hint_runnable, v_offer.runnable_id)]
        );
        v_found := cardinality(v_picked.job_ids);
        CONTINUE WHEN v_found IS NULL;
        IF v_picked.cpu_m > least(v_cpu, v_offer.share_m) OR v_picked.memory_mib > v_memory THEN
            -- The first job is taken whatever its size, unless another worker could start it now (ADR 41).
            v_picked := weft._fit_budget(
                v_picked,
                v_cpu,
                v_memory,
                v_offer.share_m,
                CASE
                    WHEN v_n > 0
                        OR (v_picked.cpus_m[1] > v_cpu OR v_picked.memories_mib[1] > v_memory)
                            AND weft._leave_to_sleeper(
                                v_worker.itself, v_offer.lane_id, v_picked.cpus_m[1], v_picked.memories_mib[1]
                            )
                        THEN 0
                    ELSE 1
                END
            );
            EXIT WHEN v_picked.job_ids = '{}';
        END IF;
        v_n := v_n + cardinality(v_picked.job_ids);
        v_offer.share_m := v_offer.share_m - v_picked.cpu_m;
        RETURN QUERY
        SELECT *
        FROM weft._record_claim(
            v_picked,
            v_offer,
            claim_jobs.incarnation_id,
            v_worker.pool_id,
            v_worker.rate_card_id,
            claim_jobs.call,
            v_n <= 4,
            claim_jobs.at
        );
        IF v_terms.gated AND v_offer.runnable_id = 0 THEN
            PERFORM weft._note_starts(v_offer.batch_id, v_picked.job_ids);
        END IF;
        EXIT WHEN v_worker.trying
            OR v_found = v_fit
            OR cardinality(v_picked.job_ids) < v_found AND v_offer.share_m > 0;
        v_left := v_left - cardinality(v_picked.job_ids);
        v_cpu := v_cpu - v_picked.cpu_m;
        v_memory := v_memory - v_picked.memory_mib;
    END LOOP;
    IF v_n > 0 THEN
        IF v_worker.waiting OR v_worker.trying THEN
            v_done := weft._note_claim(
                claim_jobs.incarnation_id,
                v_worker.pool_id,
                v_worker.trying,
                v_offer,
                v_picked.job_ids,
                v_n,
                v_worker.lanes,
                v_worker.shares
            ) IS NULL;
        END IF;
        -- else _make_visible has announced
        IF claim_jobs.call >= 0 IS NOT FALSE THEN
            PERFORM weft._announce();
        END IF;
    END IF;
END $$;
