-- _give_to_sleeper: claim little new work for a worker that sleeps and has nothing to do, in the transaction
--   that makes the work visible (ADR 183). The worker is told, and asks list_given: until a process starts
--   there is one wait for the disk instead of two. If there is no such worker, or nothing to claim, wake some
--   as usual.
-- Safe to repeat: no.
-- For: _make_visible, after _announce. If the worker does not hear of it, its jobs come back at a heartbeat,
--   as those of a lost reply.
-- Locks: incarnation (its row, SKIP LOCKED); as claim_jobs. It never waits.
-- Plan: as _sleepers; its claims, then their jobs, by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._give_to_sleeper(of_pool_id int, of_lane_id int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER PLAN_BY_KEY AS $$
DECLARE
    v_worker record;
BEGIN
    SELECT i.incarnation_id, i.cpu_m, i.memory_mib
    INTO v_worker
    FROM weft.worker_incarnation i
    WHERE i.incarnation_id = (
        SELECT s.incarnation_id
        FROM weft._sleepers(of_pool_id, of_lane_id, 0, 0) s
        WHERE s.takes
            AND NOT EXISTS (  -- as _live_attempts, of at most 1,000 jobs
                SELECT
                FROM weft.claim c
                CROSS JOIN LATERAL (
                    SELECT
                    FROM weft.job j
                    WHERE j.batch_id = c.batch_id
                        AND j.job_id = ANY (c.jobs)
                        AND j.state = STATE_RUNNING
                        AND j.incarnation_id = c.incarnation_id
                    OFFSET 0
                ) x
                WHERE c.incarnation_id = s.incarnation_id
                OFFSET 0
            )
            AND s.heartbeat_at > clock_timestamp() - interval '15 seconds'  -- it has hardly died
            -- A claim looks at all that is held, too: then a submission is not to wait for that.
            AND NOT EXISTS (
                SELECT FROM weft.runnable r WHERE r.pool_id = of_pool_id AND r.gate_set_id = 0 OFFSET 64
            )
            AND NOT EXISTS (
                SELECT FROM weft.ready_job q WHERE q.pool_id = of_pool_id AND q.gate_set_id = 0 OFFSET 64
            )
        LIMIT 1
    )
    FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        -- A number that no other claim has: that of this transaction. Those of the workers are above zero.
        PERFORM
        FROM weft.claim_jobs(
            v_worker.incarnation_id,
            v_worker.cpu_m,
            v_worker.memory_mib,
            4,
            call => -(pg_current_xact_id()::text::bigint)
        );
    END IF;
    IF FOUND THEN
        PERFORM pg_notify('work', of_pool_id || ':=' || v_worker.incarnation_id);
    ELSE
        PERFORM weft._wake_workers(ARRAY[of_pool_id], ARRAY[of_lane_id], 16);
    END IF;
END $$;
