-- postpone_conditions: one bounded step after tests that did not pass: the jobs of these conditions that are
--   due wait on, each by its own steps and its own time; those that have waited too long are given up.
-- Safe to repeat: yes.
-- For: DriverStore.postpone_conditions, again and again until it returns 0.
-- Locks: as _check_epoch; job (SKIP LOCKED, in key order); as _end_as_errors.
-- Plan: jobs of each condition by their dates; as _past_tries.
-- due_s: only jobs that have been due for so long: those that wait on since the first step may be due again.
-- Returns: how many jobs wait on or were given up.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.postpone_conditions(
    epoch bigint,
    condition_ids bigint[],
    limit_jobs int,
    due_s float8 DEFAULT 0,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_batch bigint[];
    v_job int[];
    v_settled record;
BEGIN
    SELECT array_agg(l.batch_id), array_agg(l.job_id)
    INTO v_batch, v_job
    FROM (
        SELECT d.batch_id, d.job_id
        FROM (
            SELECT k.batch_id, k.job_id
            FROM unnest(condition_ids) x
            CROSS JOIN LATERAL (
                SELECT y.batch_id, y.job_id
                FROM weft.blocked_job y
                WHERE y.condition_id = x AND y.next_at <= postpone_conditions.at - interval '1 s' * due_s
                ORDER BY y.next_at
                LIMIT limit_jobs
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
    IF v_job IS NULL THEN
        RETURN 0;
    END IF;
    WITH due AS MATERIALIZED (
        SELECT
            k.batch_id,
            k.job_id,
            p.n + 1 + k.n_tests AS tries,  -- each test that did not pass is a step, too
            coalesce(floor(extract(epoch FROM postpone_conditions.at - p.since) / 60) * 60, 0)::float8 AS
                waited_s
        FROM unnest(v_batch, v_job) t (b, j)
        CROSS JOIN LATERAL (
            SELECT x.* FROM weft.blocked_job x WHERE x.batch_id = t.b AND x.job_id = t.j OFFSET 0
        ) k
        CROSS JOIN LATERAL (
            SELECT x.attempt FROM weft.job x WHERE x.batch_id = t.b AND x.job_id = t.j OFFSET 0
        ) j
        CROSS JOIN LATERAL weft._past_tries(t.b, t.j, j.attempt + 1::smallint, REASON_BLOCKED::smallint) p
    ),
    -- Most jobs have come equally far. Jobs are given up after whole hours, so minutes tell who is, and there
    -- is no jitter.
    wait AS MATERIALIZED (
        SELECT
            d.tries,
            d.waited_s,
            weft._retry_wait(
                weft._policy_of(NULL, NULL, NULL, REASON_BLOCKED::smallint), d.tries, d.waited_s, 0
            ) AS wait_s
        FROM (SELECT DISTINCT x.tries, x.waited_s FROM due x) d
    ),
    next AS MATERIALIZED (
        SELECT d.batch_id, d.job_id, w.wait_s
        FROM due d
        JOIN wait w ON w.tries = d.tries AND w.waited_s = d.waited_s
    ),
    upd AS (
        UPDATE weft.blocked_job k
        SET n_tests = k.n_tests + 1, next_at = postpone_conditions.at + interval '1 s' * n.wait_s
        FROM next n
        WHERE k.batch_id = n.batch_id AND k.job_id = n.job_id AND n.wait_s IS NOT NULL
        RETURNING k.job_id
    )
    -- Jobs of one batch end at a time; the others are still due at the next step.
    SELECT
        u.n, o.batch_id, o.jobs
    INTO v_settled
    FROM (SELECT count(*) AS n FROM upd) u
    LEFT JOIN (
        SELECT n.batch_id, array_agg(n.job_id) AS jobs
        FROM next n
        WHERE n.wait_s IS NULL
        GROUP BY n.batch_id
        ORDER BY n.batch_id
        LIMIT 1
    ) o ON true;
    IF v_settled.jobs IS NOT NULL THEN
        PERFORM weft._end_as_errors(
            v_settled.batch_id,
            v_settled.jobs,
            postpone_conditions.at,
            'blocked',
            'what it waits for has not come back in time'
        );
    END IF;
    RETURN v_settled.n + coalesce(cardinality(v_settled.jobs), 0);
END $$;
