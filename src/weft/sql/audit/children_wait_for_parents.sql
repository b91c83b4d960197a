-- No attempt of a job was claimed before its parents had ended, or their share succeeded. A parent that was
--   retried had ended before.
-- Of one that was cancelled before it ran, the date of that is not kept.
-- A batch that is being removed is incomplete.
SELECT
    e.batch_id,
    e.child_id,
    c.claimed_at,
    e.parent_id,
    p.state AS parent_state,
    coalesce(a.ended_at, p.cancelled_at) AS parent_ended_at
FROM weft.edge e
JOIN LATERAL (
    SELECT min(x.claimed_at) AS claimed_at
    FROM weft._runs() x
    WHERE x.batch_id = e.batch_id AND x.job_id = e.child_id
) c ON c.claimed_at IS NOT NULL
JOIN weft.job p ON p.batch_id = e.batch_id AND p.job_id = e.parent_id
LEFT JOIN weft.attempt a ON a.batch_id = p.batch_id
    AND a.job_id = p.job_id
    AND a.attempt = p.attempt
    AND p.cancelled_at IS NULL
WHERE e.need IS DISTINCT FROM NEED_TOLD
    AND CASE
        WHEN e.need < 0
            THEN EXISTS (
                SELECT
                FROM weft.job j
                JOIN weft.parent_share s ON s.batch_id = j.batch_id
                    AND s.child_id = j.job_id
                    AND s.need = e.need
                    AND s.n_succeeded < s.n_needed
                WHERE j.batch_id = e.batch_id
                    AND j.job_id = e.child_id
                    AND j.state = STATE_RUNNING
                    AND NOT j.always_run
            )
        ELSE p.state < STATE_SUCCESS OR coalesce(a.ended_at, p.cancelled_at) > c.claimed_at
    END
    AND NOT EXISTS (
        SELECT
        FROM weft.job_change r
        LEFT JOIN weft.attempt f ON f.batch_id = r.batch_id AND f.job_id = r.job_id AND f.attempt = r.attempt
        WHERE r.batch_id = p.batch_id
            AND r.job_id = p.job_id
            AND r.subtype = 'retried'
            AND (r.attempt IS NULL OR f.ended_at <= c.claimed_at)
    )
