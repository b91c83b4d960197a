-- _black_holes: the workers that are cordoned as black holes, and how the try of each stands.
-- Plan: all of them, which are few; incarnations, jobs and attempts by key.
-- Returns: `outcome`: none while no try has ended; success; failure; unknown: it was cancelled or lost, or
--   its batch is gone. `due_at`: when the next try may begin; NULL: the worker does not live, or one goes on.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._black_holes()
RETURNS TABLE (worker_id int, worker text, pool_id int, n_tries int, outcome text, due_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT
        b.worker_id,
        w.name,
        w.pool_id,
        b.n_tries,
        s.outcome,
        CASE
            WHEN NOT i.trying AND s.outcome <> 'running'
                THEN CASE WHEN s.outcome = 'none' THEN b.try_at ELSE clock_timestamp() END
        END
    FROM weft.black_hole b
    JOIN weft.worker w
    USING (worker_id)
    LEFT JOIN LATERAL (
        SELECT x.*
        FROM weft.worker_incarnation x
        WHERE x.worker_id = w.worker_id AND x.ended_at IS NULL
        OFFSET 0
    ) i ON true
    LEFT JOIN LATERAL (
        SELECT x.*
        FROM weft.attempt x
        WHERE x.batch_id = b.try_batch_id AND x.job_id = b.try_job_id AND x.attempt = b.try_attempt
        OFFSET 0
    ) a ON true
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN b.try_batch_id IS NULL THEN 'none'
            WHEN EXISTS (
                SELECT
                FROM weft.job j
                WHERE j.batch_id = b.try_batch_id
                    AND j.job_id = b.try_job_id
                    AND j.attempt = b.try_attempt
                    AND j.state = STATE_RUNNING
            )
                THEN 'running'
            WHEN a.attempt IS NULL
                OR a.reason IN (REASON_CANCELLED, REASON_PREEMPTED, REASON_LOST, REASON_DEADLINE)
                THEN 'unknown'
            WHEN a.reason IS NULL THEN 'success'
            ELSE 'failure'
        END AS outcome
    ) s
    WHERE NOT w.draining
$$;
