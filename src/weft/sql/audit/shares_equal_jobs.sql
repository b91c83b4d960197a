-- The load of every user equals the mCPU of the jobs that are claimed, queued or creating, and the demand
--   that of ready jobs.
-- Both are those folded and not folded together. Jobs of an update that is not committed are no demand yet.
WITH counted AS (
    SELECT x.pool_id, x.user_id, sum(x.running_m) AS running_m, sum(x.ready_m) AS ready_m
    FROM (
        SELECT s.pool_id, s.user_id, s.running_m, s.ready_m
        FROM weft.user_share s
        UNION ALL
        SELECT d.pool_id, b.user_id, (d.n_running + d.n_creating + d.n_queued) * h.cpu_m, d.n_ready * h.cpu_m
        FROM weft._unfolded() d
        JOIN weft.batch b ON b.batch_id = d.batch_id
        JOIN weft.shape h ON h.shape_id = d.shape_id
    ) x
    GROUP BY 1, 2
),
recounted AS (
    SELECT
        weft._lane_pool(j.lane_id, q.pool_id) AS pool_id,
        b.user_id,
        sum(h.cpu_m) FILTER (WHERE j.state IN (STATE_RUNNING, STATE_CREATING, STATE_QUEUED)) AS running_m,
        sum(h.cpu_m) FILTER (WHERE j.state = STATE_READY) AS ready_m
    FROM weft.job j
    JOIN weft.batch b ON b.batch_id = j.batch_id
    JOIN weft.queue q ON q.queue_id = b.queue_id
    JOIN weft.shape h ON h.shape_id = j.shape_id
    JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0
        AND u.update_id = j.update_id
        AND u.committed_at IS NOT NULL
    WHERE j.state IN (STATE_RUNNING, STATE_CREATING, STATE_QUEUED, STATE_READY)
    GROUP BY 1, 2
)
SELECT
    coalesce(c.pool_id, r.pool_id) AS pool_id,
    coalesce(c.user_id, r.user_id) AS user_id,
    c.running_m AS counted,
    r.running_m AS recounted,
    c.ready_m AS ready_counted,
    r.ready_m AS ready_recounted
FROM counted c
FULL JOIN recounted r ON r.pool_id = c.pool_id AND r.user_id = c.user_id
WHERE coalesce(c.running_m, 0) <> coalesce(r.running_m, 0) OR coalesce(c.ready_m, 0) <> coalesce(r.ready_m, 0)
