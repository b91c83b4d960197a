-- claim_jobs: give up to limit_jobs ready jobs to a worker, as new attempts.
-- Called by: Store.claim_jobs, complete_and_claim (worker agent).   Safe to repeat: no; what a lost reply claimed comes back when the worker
--   is lost, or with a heartbeat: `call` numbers the calls of a worker, and its heartbeat names those that it has heard of.
-- Locks: incarnation and batch (shared advisory, tried), job rows and the incarnation's row SKIP LOCKED; waits for nobody.
-- Plan: users by load, then their work by priority and age: ready_job and runnable by key, job by key from the hint on.
-- Returns: one row per attempt, in the order of the queue; no rows if nothing fits. With few of them the specs, if they are small: one
--   call less before a job that comes alone can start. The first may exceed the budget as long as
--   the worker as a whole can hold it; with it the sums of cpu and memory stay within the budget.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.claim_jobs(
    incarnation_id int, budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs int,
    hint_runnable bigint[] DEFAULT '{}', hint_job int[] DEFAULT '{}', call bigint DEFAULT NULL, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    batch_id bigint, job_id int, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu int,
    spec_first int, runnable_id bigint, chunk bytea
) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    v_worker record;
    v_user record;
    v_source record;          -- next place to take jobs from
    v_batch record;
    v_limit int;
    v_from int;
    v_to int;
    v_far bigint;             -- how far to look: beyond may stand many that are held and not parked yet
    v_listed_rank smallint;   -- position among the user's listed jobs
    v_listed_batch bigint;
    v_range_batch bigint;     -- position among the user's ranges
    v_range_first int;
    v_pass int := 1;
    v_left int := claim_jobs.limit_jobs;
    v_cpu bigint := claim_jobs.budget_cpu_m;
    v_memory bigint := claim_jobs.budget_memory_mib;
    v_is_first boolean := true;
    v_full boolean := false;
    v_taken_cpu bigint;
    v_taken_memory bigint;
    v_found int;              -- jobs that this source had to offer
    v_taken int;              -- so many of them were claimed
    v_tid tid[]; v_queue_tid tid[]; v_job int[]; v_attempt smallint[]; v_shape int[]; v_spec int[]; v_cpus int[]; v_memories int[]; v_asks_more boolean[];
    r_batch bigint[] := '{}'; r_job int[] := '{}'; r_attempt smallint[] := '{}'; r_shape int[] := '{}'; r_spec int[] := '{}'; r_runnable bigint[] := '{}';
    r_cpu int[] := '{}'; r_memory int[] := '{}'; r_asks_more boolean[] := '{}';
BEGIN
    -- Who ends the incarnation waits for us, or we see that it has ended: no claim commits unseen after that.
    IF NOT pg_try_advisory_xact_lock_shared(7703, claim_jobs.incarnation_id) THEN
        RETURN;
    END IF;
    SELECT i.pool_id, i.cpu_m, i.memory_mib, i.storage_mib, i.gpu, i.waiting,
           (SELECT c.rate_card_id FROM weft.rate_card c WHERE c.valid_from <= claim_jobs.at ORDER BY c.valid_from DESC LIMIT 1) AS rate_card_id,
           (SELECT count(*) > 1 FROM (SELECT FROM weft.user_share s WHERE s.pool_id = i.pool_id AND s.active LIMIT 2) x) AS has_many_users
    INTO v_worker
    FROM weft.worker_incarnation i WHERE i.incarnation_id = claim_jobs.incarnation_id AND i.ended_at IS NULL AND NOT i.draining;
    IF NOT FOUND THEN
        RETURN;
    END IF;

    -- Between two folds the order does not move, so who was served since then comes last (second pass).
    <<users>>
    WHILE v_pass <= 2 AND v_left > 0 AND NOT v_full LOOP
    FOR v_user IN
        SELECT s.user_id, s.tenant_id FROM weft.user_share s
        WHERE s.pool_id = v_worker.pool_id AND s.active
        ORDER BY s.load, s.user_id
    LOOP
        IF v_worker.has_many_users AND (v_pass = 2) <> weft._served_since_fold(v_worker.pool_id, v_user.user_id) THEN
            CONTINUE;
        END IF;
        v_listed_rank := NULL; v_listed_batch := NULL; v_range_batch := 0; v_range_first := 0;
        LOOP
            -- The next source: listed jobs of one rank and batch, or one range; by priority, then age, listed first.
            SELECT * INTO v_source FROM (
                (SELECT q.rank, q.batch_id, 0 AS first_job, 0 AS last_job, 0 AS low_job, 0::bigint AS runnable_id, q.job_id AS head
                 FROM weft.ready_job q
                 WHERE q.pool_id = v_worker.pool_id AND q.user_id = v_user.user_id
                   AND (v_listed_rank IS NULL OR (q.rank, q.batch_id) > (v_listed_rank, v_listed_batch))
                 ORDER BY q.rank, q.batch_id, q.job_id LIMIT 1)
                UNION ALL
                (SELECT 0::smallint, r.batch_id, r.first_job, r.last_job, r.low_job, r.runnable_id, 0
                 FROM weft.runnable r
                 WHERE r.pool_id = v_worker.pool_id AND r.user_id = v_user.user_id
                   AND (r.batch_id, r.first_job) > (v_range_batch, v_range_first)
                 ORDER BY r.batch_id, r.first_job LIMIT 1)
            ) x ORDER BY x.rank, x.batch_id, x.runnable_id LIMIT 1;
            EXIT WHEN NOT FOUND;
            IF v_source.runnable_id = 0 THEN
                v_listed_rank := v_source.rank; v_listed_batch := v_source.batch_id;
            ELSE
                v_range_batch := v_source.batch_id; v_range_first := v_source.first_job;
            END IF;

            -- Invariant 6: a cancel takes this lock exclusively, and so does a hold: they wait for us or we see their row.
            CONTINUE WHEN NOT pg_try_advisory_xact_lock_shared(v_source.batch_id);
            -- always_run jobs are listed, so a range of a cancelled batch holds nothing that may run and is not walked.
            SELECT b.max_running,
                   EXISTS (SELECT FROM weft.group_hold h WHERE h.batch_id = b.batch_id) OR EXISTS (SELECT FROM weft.job_hold h WHERE h.batch_id = b.batch_id) AS has_hold,
                   EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = b.batch_id) AS has_cancel,
                   EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = b.batch_id AND c.group_id = 0 AND (c.force OR v_source.runnable_id <> 0)) AS is_over
            INTO v_batch FROM weft.batch b WHERE b.batch_id = v_source.batch_id;
            CONTINUE WHEN v_batch.is_over;
            v_far := 2147483647;
            IF v_batch.has_hold THEN
                CONTINUE WHEN weft._is_held(v_source.batch_id, 0, 0);
                v_far := weft._lookahead_jobs(v_source.batch_id);
            END IF;
            v_limit := v_left;
            IF v_batch.max_running IS NOT NULL THEN
                CONTINUE WHEN NOT pg_try_advisory_xact_lock(-v_source.batch_id);  -- one claimer at a time, so that the bound holds
                v_limit := least(v_limit, v_batch.max_running - weft._n_running(v_source.batch_id));
                CONTINUE WHEN v_limit <= 0;
            END IF;

            v_from := greatest(v_source.low_job, coalesce(hint_job[array_position(hint_runnable, v_source.runnable_id)], 0));
            LOOP
                v_to := least(CASE v_source.runnable_id WHEN 0 THEN 2147483647 ELSE v_source.last_job END, greatest(v_from, v_source.head) + v_far);
                IF v_source.runnable_id <> 0 THEN
                    SELECT array_agg(p.tid), array_agg(p.job_id), array_agg(p.attempt), array_agg(p.shape_id), array_agg(p.spec_first),
                           array_agg(p.cpu_m), array_agg(p.memory_mib), array_agg(p.asks_more), coalesce(sum(p.cpu_m), 0), coalesce(sum(p.memory_mib), 0)
                    INTO v_tid, v_job, v_attempt, v_shape, v_spec, v_cpus, v_memories, v_asks_more, v_taken_cpu, v_taken_memory
                    FROM (SELECT j.ctid AS tid, j.job_id, j.attempt + 1::smallint AS attempt, j.shape_id, j.spec_first, j.cpu_m, j.memory_mib, j.asks_more
                          FROM weft.job j
                          WHERE j.batch_id = v_source.batch_id AND j.job_id >= v_from AND j.job_id <= v_to
                            AND j.state = 1 AND NOT j.listed AND j.cpu_m <= v_worker.cpu_m AND j.memory_mib <= v_worker.memory_mib
                            AND (NOT j.asks_more OR weft._fits(j.shape_id, v_worker.storage_mib, v_worker.gpu))
                            AND (NOT v_batch.has_cancel OR NOT (j.group_id <@ (SELECT weft._cancelled_groups(v_source.batch_id))
                                 OR weft._is_cancelled(j.batch_id, j.group_id, j.always_run)))
                            AND (NOT v_batch.has_hold OR NOT weft._is_held(j.batch_id, j.group_id, j.job_id))
                          ORDER BY j.job_id LIMIT v_limit FOR UPDATE OF j SKIP LOCKED) p;
                ELSE
                    SELECT array_agg(p.tid), array_agg(p.queue_tid), array_agg(p.job_id), array_agg(p.attempt), array_agg(p.shape_id), array_agg(p.spec_first),
                           array_agg(p.cpu_m), array_agg(p.memory_mib), array_agg(p.asks_more), coalesce(sum(p.cpu_m), 0), coalesce(sum(p.memory_mib), 0)
                    INTO v_tid, v_queue_tid, v_job, v_attempt, v_shape, v_spec, v_cpus, v_memories, v_asks_more, v_taken_cpu, v_taken_memory
                    FROM (SELECT q.ctid AS queue_tid, q.job_id, j.*
                          FROM weft.ready_job q
                          -- The job's row is locked here, or left: one who waited for it while it has others could be waited for.
                          CROSS JOIN LATERAL (
                              SELECT y.ctid AS tid, y.attempt + 1::smallint AS attempt, y.shape_id, y.spec_first, y.cpu_m, y.memory_mib, y.asks_more
                              FROM weft.job y
                              WHERE y.batch_id = q.batch_id AND y.job_id = q.job_id AND y.state = 1
                                AND y.cpu_m <= v_worker.cpu_m AND y.memory_mib <= v_worker.memory_mib
                                AND (NOT y.asks_more OR weft._fits(y.shape_id, v_worker.storage_mib, v_worker.gpu))
                                AND (NOT v_batch.has_cancel OR NOT weft._is_cancelled(y.batch_id, y.group_id, y.always_run))
                                AND (NOT v_batch.has_hold OR NOT weft._is_held(y.batch_id, y.group_id, y.job_id))
                              FOR UPDATE SKIP LOCKED) j
                          WHERE q.pool_id = v_worker.pool_id AND q.user_id = v_user.user_id AND q.rank = v_source.rank
                            AND q.batch_id = v_source.batch_id
                            AND (q.rank, q.batch_id, q.job_id) <= (v_source.rank, v_source.batch_id, v_to)  -- by the order of this index and no other
                          ORDER BY q.job_id LIMIT v_limit FOR UPDATE OF q SKIP LOCKED) p;
                END IF;
                v_found := coalesce(cardinality(v_job), 0);
                v_taken := v_found;
                IF v_taken_cpu > v_cpu OR v_taken_memory > v_memory THEN
                    -- Only the first of them fit the budget; the very first is taken whatever it asks for.
                    SELECT greatest(count(*) FILTER (WHERE x.cpu <= v_cpu AND x.memory <= v_memory), v_is_first::int) INTO v_taken
                    FROM (SELECT sum(t.c) OVER w AS cpu, sum(t.m) OVER w AS memory FROM unnest(v_cpus, v_memories) WITH ORDINALITY t (c, m, n)
                          WINDOW w AS (ORDER BY t.n ROWS UNBOUNDED PRECEDING)) x;
                    v_tid := v_tid[:v_taken]; v_queue_tid := v_queue_tid[:v_taken];
                    v_job := v_job[:v_taken]; v_attempt := v_attempt[:v_taken]; v_shape := v_shape[:v_taken]; v_spec := v_spec[:v_taken];
                    v_cpus := v_cpus[:v_taken]; v_memories := v_memories[:v_taken]; v_asks_more := v_asks_more[:v_taken];
                    SELECT coalesce(sum(t.c), 0), coalesce(sum(t.m), 0) INTO v_taken_cpu, v_taken_memory FROM unnest(v_cpus, v_memories) t (c, m);
                END IF;
                IF v_taken > 0 THEN
                    IF v_source.runnable_id = 0 THEN
                        DELETE FROM weft.ready_job q WHERE q.ctid = ANY (v_queue_tid);
                    END IF;
                    -- Invariant 12: all that was seen was committed before this statement began, so its own clock is read in it; and if
                    -- the clock was set back, the ends of parents (ready_at) and of the attempt before still come first.
                    WITH upd AS (
                        UPDATE weft.job j SET state = 4, phase = 1, attempt = j.attempt + 1, incarnation_id = claim_jobs.incarnation_id,
                               claimed_at = greatest(claim_jobs.at, (SELECT clock_timestamp()), j.ready_at, CASE WHEN j.attempt > 0 THEN (
                                   SELECT a.ended_at FROM weft.attempt a WHERE a.batch_id = j.batch_id AND a.job_id = j.job_id AND a.attempt = j.attempt) END),
                               started_at = NULL, billed_ms = 0, rate_card_id = v_worker.rate_card_id
                        WHERE j.ctid = ANY (v_tid)  -- locked above, so the rows are where they were
                        RETURNING j.group_id, j.shape_id),
                    cla AS (INSERT INTO weft.claim (incarnation_id, batch_id, jobs, call) VALUES (claim_jobs.incarnation_id, v_source.batch_id, v_job, claim_jobs.call)),
                    eve AS (
                        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
                        VALUES (claim_jobs.at, v_user.tenant_id, v_source.batch_id, 'jobs.running', 1, 4, v_job))
                    INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_ready, n_running)
                    SELECT v_user.tenant_id, v_source.batch_id, u.group_id, u.shape_id, v_worker.pool_id, -count(*), count(*)
                    FROM upd u GROUP BY u.group_id, u.shape_id;
                    r_batch := r_batch || array_fill(v_source.batch_id, ARRAY[v_taken]);
                    r_job := r_job || v_job; r_attempt := r_attempt || v_attempt; r_shape := r_shape || v_shape; r_spec := r_spec || v_spec;
                    r_cpu := r_cpu || v_cpus; r_memory := r_memory || v_memories; r_asks_more := r_asks_more || v_asks_more;
                    r_runnable := r_runnable || array_fill(v_source.runnable_id, ARRAY[v_taken]);
                    v_left := v_left - v_taken; v_limit := v_limit - v_taken;
                    v_cpu := v_cpu - v_taken_cpu; v_memory := v_memory - v_taken_memory;
                    v_is_first := false;
                END IF;
                v_full := v_left <= 0 OR v_found > v_taken;
                EXIT WHEN v_full OR v_source.runnable_id = 0 OR v_limit <= 0 OR v_from <= v_source.low_job;
                v_from := v_source.low_job;  -- the hint was only a hint
            END LOOP;
            EXIT users WHEN v_full;
        END LOOP;
    END LOOP;
    EXIT WHEN NOT v_worker.has_many_users;
    v_pass := v_pass + 1;
    END LOOP;

    IF cardinality(r_job) = 0 THEN
        RETURN;
    END IF;
    IF v_worker.waiting THEN
        -- Locks may be held that its heartbeat waits for, so if that has the row it stays: it costs a notice, until the next claim.
        UPDATE weft.worker_incarnation i SET waiting = false WHERE i.ctid = (
            SELECT x.ctid FROM weft.worker_incarnation x WHERE x.incarnation_id = claim_jobs.incarnation_id FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    PERFORM weft._announce();
    RETURN QUERY
    SELECT t.b, t.j, t.a, t.c::bigint, t.m::bigint,
           CASE WHEN t.more THEN (SELECT x.storage_mib FROM weft.shape x WHERE x.shape_id = t.s) ELSE 0 END,
           CASE WHEN t.more THEN (SELECT x.gpu FROM weft.shape x WHERE x.shape_id = t.s) ELSE 0 END, t.f, t.r,
           CASE WHEN cardinality(r_job) <= 4 THEN (SELECT x.body FROM weft.job_spec x WHERE x.batch_id = t.b AND x.first_job = t.f AND octet_length(x.body) <= 8192) END
    FROM unnest(r_batch, r_job, r_attempt, r_cpu, r_memory, r_shape, r_asks_more, r_spec, r_runnable) t (b, j, a, c, m, s, more, f, r);
END $$;
