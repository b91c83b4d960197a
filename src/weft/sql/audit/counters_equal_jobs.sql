-- The counters of every group, folded and not folded together, equal a recount of its jobs.
-- A batch that is being removed is incomplete.
WITH counted AS (
    SELECT
        x.batch_id,
        x.group_id,
        ARRAY[
            sum(x.n_pending), sum(x.n_ready), sum(x.n_queued), sum(x.n_creating), sum(x.n_running),
            sum(x.n_blocked), sum(x.n_succeeded), sum(x.n_failed), sum(x.n_errored), sum(x.n_cancelled)
        ]::numeric[] AS n
    FROM (
        SELECT
            c.batch_id, c.group_id, c.n_pending, c.n_ready, c.n_queued, c.n_creating, c.n_running,
            c.n_blocked, c.n_succeeded, c.n_failed, c.n_errored, c.n_cancelled
        FROM weft.group_count c
        UNION ALL
        SELECT
            d.batch_id, a.ancestor_id, d.n_pending, d.n_ready, d.n_queued, d.n_creating, d.n_running,
            d.n_blocked, d.n_succeeded, d.n_failed, d.n_errored, d.n_cancelled
        FROM weft._unfolded() d
        JOIN weft.group_ancestor a ON a.batch_id = d.batch_id AND a.group_id = d.group_id
    ) x
    GROUP BY x.batch_id, x.group_id
),
recounted AS (
    SELECT j.batch_id, a.ancestor_id AS group_id, array_agg(j.n ORDER BY j.state) AS n
    FROM (
        SELECT g.batch_id, g.group_id, s.state, count(j.job_id)::numeric AS n
        FROM (SELECT DISTINCT batch_id, group_id FROM weft.job) g
        CROSS JOIN weft.job_state s
        LEFT JOIN (
            weft.job j JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0
                AND u.update_id = j.update_id
                AND u.committed_at IS NOT NULL
        ) ON j.batch_id = g.batch_id
            AND j.group_id = g.group_id
            AND j.state = s.state
        GROUP BY 1, 2, 3
    ) j
    JOIN weft.group_ancestor a ON a.batch_id = j.batch_id AND a.group_id = j.group_id
    GROUP BY j.batch_id, a.ancestor_id, j.group_id
),
summed AS (
    SELECT
        r.batch_id,
        r.group_id,
        ARRAY(
            SELECT sum(q.n[i])
            FROM recounted q, generate_series(1, 10) i
            WHERE q.batch_id = r.batch_id AND q.group_id = r.group_id
            GROUP BY i
            ORDER BY i
        ) AS n
    FROM (SELECT DISTINCT batch_id, group_id FROM recounted) r
)
SELECT
    coalesce(c.batch_id, s.batch_id) AS batch_id,
    coalesce(c.group_id, s.group_id) AS group_id,
    c.n::text AS counted,
    s.n::text AS recounted
FROM counted c
FULL JOIN summed s ON s.batch_id = c.batch_id AND s.group_id = c.group_id
WHERE coalesce(c.n, array_fill(0::numeric, ARRAY[10]))
    IS DISTINCT FROM coalesce(s.n, array_fill(0::numeric, ARRAY[10]))
