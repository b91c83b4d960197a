-- release_conditions: one bounded step: let jobs go on at conditions whose test has passed, or where a person
--   said so. Those that are due first go first.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; job (SKIP LOCKED, in key order); condition (in the order of their ids); as
--   _release_jobs.
-- Plan: conditions by index; their jobs by date.
-- Returns: how many jobs it made ready. A cancel that holds a row ends its job.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.release_conditions(
    epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_condition bigint[];
    v_batch bigint[];
    v_job int[];
    v_of bigint[];
BEGIN
    SELECT array_agg(c.condition_id)
    INTO v_condition
    FROM (SELECT x.condition_id FROM weft.condition x WHERE x.n_going > 0 ORDER BY x.condition_id LIMIT 100)
        c;
    IF v_condition IS NULL THEN
        RETURN 0;
    END IF;
    SELECT array_agg(l.batch_id), array_agg(l.job_id), array_agg(t.condition_id)
    INTO v_batch, v_job, v_of
    FROM (
        SELECT d.batch_id, d.job_id, d.condition_id
        FROM (
            SELECT k.batch_id, k.job_id, k.condition_id
            FROM unnest(v_condition) x
            CROSS JOIN LATERAL (SELECT y.n_going FROM weft.condition y WHERE y.condition_id = x OFFSET 0) c
            CROSS JOIN LATERAL (
                SELECT y.batch_id, y.job_id, y.condition_id
                FROM weft.blocked_job y
                WHERE y.condition_id = x
                ORDER BY y.next_at
                LIMIT least(c.n_going, limit_jobs)
            ) k
            LIMIT limit_jobs
        ) d
        ORDER BY d.batch_id, d.job_id
    ) t
    CROSS JOIN LATERAL (
        SELECT j.batch_id, j.job_id, j.state
        FROM weft.job j
        WHERE j.batch_id = t.batch_id AND j.job_id = t.job_id
        FOR UPDATE SKIP LOCKED
        OFFSET 0
    ) l
    WHERE l.state = STATE_BLOCKED;
    -- A job that has come meanwhile may have stopped the others: then there is nothing to subtract from.
    PERFORM
    FROM weft.condition c
    WHERE c.condition_id = ANY (v_condition)
    ORDER BY c.condition_id
    FOR NO KEY UPDATE;
    UPDATE weft.condition c
    SET n_going = CASE
        WHEN NOT EXISTS (SELECT FROM weft.blocked_job k WHERE k.condition_id = c.condition_id) THEN 0
        ELSE greatest(c.n_going - (SELECT count(*) FROM unnest(v_of) x WHERE x = c.condition_id), 0)
    END
    WHERE c.condition_id = ANY (v_condition);
    IF v_job IS NULL THEN
        RETURN 0;
    END IF;
    PERFORM weft._release_jobs(v_batch, v_job, release_conditions.at);
    RETURN cardinality(v_job);
END $$;
