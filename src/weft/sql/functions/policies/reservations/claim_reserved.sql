-- claim_reserved: give a worker the job that it is kept for, as a new attempt: it starts as soon as there is
--   room. While the worker has it, or cannot claim it yet, give it others that fit into a budget and end
--   before there could be room for that job. A worker that is not kept says which job it has that waits for
--   room, and gets others that fit beside what runs (ADR 118).
-- Safe to repeat: as claim_jobs.
-- Locks: incarnation (shared, tried); as _claim_kept; as _fill_gap; as _announce. It never waits.
-- Plan: everything by key; as _claim_kept and _fill_gap, which run with the settings of this function.
-- Returns: as claim_jobs, and whether these are such others; no row if there is nothing to claim now.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.claim_reserved(
    incarnation_id int,
    budget_cpu_m bigint,
    budget_memory_mib bigint,
    limit_jobs int,
    call bigint DEFAULT NULL,
    at timestamptz DEFAULT clock_timestamp(),
    passed_batch bigint DEFAULT NULL,
    passed_job int DEFAULT NULL
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
    chunk bytea,
    fills boolean
) LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_worker weft.worker_incarnation;
    v_kept weft.reservation;
    v_rate_card smallint;
    v_passed record;
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(7703, claim_reserved.incarnation_id) THEN
        RETURN;
    END IF;
    SELECT i.*
    INTO v_worker
    FROM weft.worker_incarnation i
    WHERE i.incarnation_id = claim_reserved.incarnation_id
        AND i.ended_at IS NULL
        AND NOT i.draining
        AND NOT i.cordoned
        AND NOT i.trying;
    SELECT r.* INTO v_kept FROM weft.reservation r WHERE r.incarnation_id = v_worker.incarnation_id;
    v_rate_card := weft._rate_card_at(claim_reserved.at);
    IF v_kept.batch_id IS NULL THEN
        SELECT b.user_id, j.priority
        INTO v_passed
        FROM weft.job j
        JOIN weft.batch b
        USING (batch_id)
        WHERE j.batch_id = claim_reserved.passed_batch
            AND j.job_id = claim_reserved.passed_job
            AND j.state = STATE_RUNNING
            AND j.started_at IS NULL
            AND j.incarnation_id = v_worker.incarnation_id;
        IF FOUND THEN
            RETURN QUERY
            SELECT x.*, true
            FROM weft._fill_gap(
                v_worker, NULL, budget_cpu_m, budget_memory_mib, limit_jobs, v_rate_card, claim_reserved.call,
                claim_reserved.at, v_passed.user_id, v_passed.priority
            ) x;
            IF FOUND THEN
                PERFORM weft._announce();
            END IF;
        END IF;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT x.*, false
    FROM weft._claim_kept(v_worker, v_kept, v_rate_card, claim_reserved.call, claim_reserved.at) x;
    IF NOT FOUND AND v_kept.fill_until > claim_reserved.at AND weft._kept_for(v_kept) THEN
        RETURN QUERY
        SELECT x.*, true
        FROM weft._fill_gap(
            v_worker,
            date_part('epoch', v_kept.fill_until - claim_reserved.at),
            budget_cpu_m,
            budget_memory_mib,
            limit_jobs,
            v_rate_card,
            claim_reserved.call,
            claim_reserved.at
        ) x;
    END IF;
    IF FOUND THEN
        PERFORM weft._announce();
    END IF;
END $$;
