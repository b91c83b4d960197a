-- The changes of each minute of a tenant are those of its users, and none of them leaves fewer than no jobs
--   that wait or run.
WITH user_sum AS (
    SELECT
        m.tenant_id,
        m.minute,
        sum(m.n_waiting) FILTER (WHERE m.user_id > 0) AS n_waiting,
        sum(m.n_waiting) FILTER (WHERE m.user_id = 0) AS of_tenant,
        sum(m.n_running + m.n_succeeded + m.n_failed + m.n_cancelled)
            FILTER (WHERE m.user_id > 0) AS n_others,
        sum(m.n_running + m.n_succeeded + m.n_failed + m.n_cancelled)
            FILTER (WHERE m.user_id = 0) AS others_of_tenant
    FROM weft.user_minute m
    GROUP BY 1, 2
),
now AS (
    SELECT
        c.tenant_id,
        b.user_id,
        sum(c.n_pending + c.n_ready + c.n_queued + c.n_creating + c.n_blocked) AS n_waiting,
        sum(c.n_running) AS n_running
    FROM weft.group_count c
    JOIN weft.batch b ON b.batch_id = c.batch_id
    WHERE c.group_id = 0 AND NOT c.complete
    GROUP BY 1, 2
),
before AS (
    SELECT
        m.tenant_id,
        m.user_id,
        m.minute,
        coalesce(n.n_waiting, 0) - sum(m.n_waiting) OVER since AS n_waiting,
        coalesce(n.n_running, 0) - sum(m.n_running) OVER since AS n_running
    FROM weft.user_minute m
    LEFT JOIN now n ON n.tenant_id = m.tenant_id AND n.user_id = m.user_id
    WHERE m.user_id > 0
    WINDOW since AS (PARTITION BY m.tenant_id, m.user_id ORDER BY m.minute DESC)
)
SELECT 'sum' AS wrong, u.tenant_id, 0 AS user_id, u.minute, u.n_waiting, u.of_tenant AS other
FROM user_sum u
WHERE u.n_waiting IS DISTINCT FROM u.of_tenant OR u.n_others IS DISTINCT FROM u.others_of_tenant
UNION ALL
SELECT 'level', b.tenant_id, b.user_id, b.minute, b.n_waiting, b.n_running
FROM before b
WHERE b.n_waiting < 0 OR b.n_running < 0
