-- sweep_cancelled: end waiting jobs of cancelled groups, in one bounded set. Their children are left to
--   settle_children. Running jobs are waited for: an end under way that does not see the cancel may make one
--   ready again. All others see it.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_term; as _check_epoch; cancel_row (SKIP LOCKED); job (in key order); as _end_waiting; as
--   _announce. Jobs that would break the lock order are left to the next call.
-- Plan: as _sweep_parts; by the cursors of group_cancel.
-- Returns: how many jobs were examined.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.sweep_cancelled(
    epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql PLAN_BY_KEY PLAN_IN_ORDER AS $$
DECLARE
    v_part record;
    v_n bigint := 0;
    v_high_batch bigint := 0;
    v_high_job int := 0;
BEGIN
    PERFORM weft._check_term(sweep_cancelled.epoch);
    IF NOT EXISTS (SELECT FROM weft.group_cancel c WHERE NOT c.swept) THEN
        RETURN 0;
    END IF;
    PERFORM weft._check_epoch(sweep_cancelled.epoch);
    FOR v_part IN
        SELECT p.* FROM weft._sweep_parts(limit_jobs) p ORDER BY p.batch_id, p.jobs[1], p.group_id
    LOOP
        CONTINUE WHEN (v_part.batch_id, v_part.jobs[1]) <= (v_high_batch, v_high_job);
        v_n := v_n + v_part.n_looked;
        IF v_part.jobs IS NOT NULL THEN
            v_high_batch := v_part.batch_id;
            v_high_job := v_part.jobs[cardinality(v_part.jobs)];
        END IF;
        PERFORM weft._end_waiting(v_part.batch_id, v_part.running, sweep_cancelled.at);
        PERFORM weft._end_waiting(v_part.batch_id, v_part.jobs, sweep_cancelled.at);
        UPDATE weft.group_cancel c
        SET swept = v_part.next_job IS NULL, sweep_job = coalesce(v_part.next_job, c.sweep_job)
        WHERE c.batch_id = v_part.batch_id AND c.group_id = v_part.group_id;
    END LOOP;
    IF v_n > 0 THEN
        PERFORM weft._announce();
    END IF;
    RETURN v_n;
END $$;
