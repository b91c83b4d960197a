-- sample_attempts: dates of jobs of a batch with their last ten attempts: of all jobs, or of limit_jobs whose
--   numbers are spread evenly.
-- Safe to repeat: yes, it only reads.
-- Raises WF101.
-- Plan: jobs, attempts and changes by key, for limit_jobs numbers.
-- Returns: a row per attempt in order of jobs and attempts, one without attempt for a job that has none;
--   now_at is the same in all. released_at: when a blocked attempt's job was released; NULL: it is blocked
--   still.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.sample_attempts(tenant_id int, batch_id bigint, limit_jobs int) RETURNS TABLE
    (
        job_id int,
        state smallint,
        ready_at timestamptz,
        cancelled_at timestamptz,
        attempt smallint,
        worker text,
        end_state smallint,
        claimed_at timestamptz,
        started_at timestamptz,
        ended_at timestamptz,
        released_at timestamptz,
        now_at timestamptz
    ) LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_last int;
    v_n int;
    v_now timestamptz := clock_timestamp();
BEGIN
    PERFORM weft._check_batch(sample_attempts.batch_id);
    SELECT b.next_job - 1 INTO v_last FROM weft.batch b WHERE b.batch_id = sample_attempts.batch_id;
    v_n := least(v_last, limit_jobs);
    RETURN QUERY
    SELECT
        j.job_id,
        j.state,
        CASE
            WHEN j.state <> STATE_PENDING
                AND (j.cancelled_at IS NULL OR j.n_unfinished = 0 AND NOT j.bad_parent)
                THEN coalesce(j.ready_at, p.committed_at)
        END,
        j.cancelled_at, a.attempt, w.name, a.end_state, a.claimed_at, a.started_at, a.ended_at,
        CASE
            WHEN a.end_state = STATE_BLOCKED
                THEN (
                    SELECT min(c.at)
                    FROM weft.job_change c
                    WHERE c.batch_id = j.batch_id
                        AND c.job_id = j.job_id
                        AND c.attempt = a.attempt
                        AND c.from_state = STATE_BLOCKED
                )
        END,
        v_now
    FROM generate_series(0, v_n - 1) i
    CROSS JOIN LATERAL (
        SELECT x.*
        FROM weft.job x
        WHERE x.batch_id = sample_attempts.batch_id AND x.job_id = 1 + (i::bigint * v_last / v_n)::int
        OFFSET 0
    ) j
    CROSS JOIN LATERAL (
        SELECT u.committed_at
        FROM weft.batch_update u
        WHERE u.batch_id = j.batch_id AND u.update_id = j.update_id AND u.committed_at IS NOT NULL
        OFFSET 0
    ) p
    LEFT JOIN LATERAL (
        SELECT x.*
        FROM (
            SELECT e.attempt, e.incarnation_id, e.state AS end_state, e.claimed_at, e.started_at, e.ended_at
            FROM weft.attempt e
            WHERE e.batch_id = j.batch_id AND e.job_id = j.job_id
            ORDER BY e.attempt DESC
            LIMIT 10
        ) x
        UNION ALL
        SELECT j.attempt, j.incarnation_id, NULL, j.claimed_at, j.started_at, NULL
        WHERE j.state = STATE_RUNNING
    ) a ON true
    LEFT JOIN LATERAL (
        SELECT y.worker_id FROM weft.worker_incarnation y WHERE y.incarnation_id = a.incarnation_id OFFSET 0
    ) n ON true
    LEFT JOIN LATERAL (SELECT y.name FROM weft.worker y WHERE y.worker_id = n.worker_id OFFSET 0) w ON true
    ORDER BY j.job_id, a.attempt;
END $$;
