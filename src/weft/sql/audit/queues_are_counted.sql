-- The jobs that wait and run in each queue, folded and not folded together, equal the jobs.
WITH counted AS (
    SELECT t.tenant_id, c.queue, c.n_waiting, c.n_running
    FROM weft.tenant t
    CROSS JOIN LATERAL weft._queue_counts(t.tenant_id, NULL) c
),
recounted AS (
    SELECT
        j.tenant_id,
        coalesce(h.countables ->> 'queue', 'default') AS queue,
        count(*) FILTER (WHERE j.state <> STATE_RUNNING) AS n_waiting,
        count(*) FILTER (WHERE j.state = STATE_RUNNING) AS n_running
    FROM weft.job j
    JOIN weft.shape h ON h.shape_id = j.shape_id
    JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0
        AND u.update_id = j.update_id
        AND u.committed_at IS NOT NULL
    JOIN weft.batch b ON b.batch_id = j.batch_id AND NOT b.removing
    WHERE j.state < STATE_SUCCESS
    GROUP BY 1, 2
)
SELECT
    coalesce(c.tenant_id, r.tenant_id) AS tenant_id,
    coalesce(c.queue, r.queue) AS queue,
    c.n_waiting,
    r.n_waiting AS recounted_waiting,
    c.n_running,
    r.n_running AS recounted_running
FROM counted c
FULL JOIN recounted r ON r.tenant_id = c.tenant_id AND r.queue = c.queue
WHERE coalesce(c.n_waiting, 0) <> coalesce(r.n_waiting, 0)
    OR coalesce(c.n_running, 0) <> coalesce(r.n_running, 0)
