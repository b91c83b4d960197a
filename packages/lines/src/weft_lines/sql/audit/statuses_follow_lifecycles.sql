-- The history of each status is a path in its lifecycle, counts from 1 on, and ends at the job's status,
--   which fits its state.
-- It fits if it names that state, or may stay in it (that of an error from which an attempt begins), or was
--   noted when the core got there,
-- or if no status names it.
SELECT s.batch_id, s.job_id, j.state, s.status, s.n, h.n_rows, h.wrong_step, h.last_status
FROM weft.job_status s
JOIN weft.job j ON j.batch_id = s.batch_id AND j.job_id = s.job_id
JOIN weft.batch b ON b.batch_id = s.batch_id AND NOT b.removing
CROSS JOIN LATERAL (
    SELECT
        count(*) AS n_rows,
        max(c.n) AS last_n,
        bool_or(
            CASE
                WHEN c.forbidden THEN c.status <> c.before
                ELSE NOT EXISTS (
                    SELECT
                    FROM weft.lifecycle_edge e
                    WHERE e.lifecycle_id = j.lifecycle_id
                        AND e.from_status = c.before
                        AND e.to_status = c.status
                )
            END
        ) AS wrong_step,
        (array_agg(c.status ORDER BY c.n DESC))[1] AS last_status,
        (array_agg(c.state ORDER BY c.n DESC))[1] AS last_state
    FROM (
        SELECT x.*, coalesce(lag(x.status) OVER (ORDER BY x.n), 0) AS before
        FROM weft.job_status_change x
        WHERE x.batch_id = s.batch_id AND x.job_id = s.job_id
    ) c
) h
WHERE h.n_rows <> s.n
    OR h.last_n IS DISTINCT FROM s.n
    OR h.wrong_step
    OR h.last_status <> s.status
    OR NOT (
        h.last_state = j.state
            OR EXISTS (
                SELECT
                FROM weft.lifecycle_move m
                WHERE m.lifecycle_id = j.lifecycle_id
                    AND m.state = j.state
                    AND m.from_status = s.status
                    AND m.way = '{}'
            )
            OR NOT EXISTS (
                SELECT FROM weft.lifecycle_core c WHERE c.lifecycle_id = j.lifecycle_id AND c.state = j.state
            )
    )
UNION ALL
SELECT j.batch_id, j.job_id, j.state, NULL, NULL, NULL, NULL, NULL
FROM weft.job j
WHERE j.lifecycle_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM weft.job_status s WHERE s.batch_id = j.batch_id AND s.job_id = j.job_id)
