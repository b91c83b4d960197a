-- The sums of workers of each pool equal its workers that live and have cores.
WITH told AS (
    SELECT s.pool_id, sum(s.n_workers) AS n, sum(s.cpu_m) AS cpu_m, sum(s.memory_mib) AS memory_mib
    FROM weft.worker_sum s
    GROUP BY 1
),
live AS (
    SELECT i.pool_id, count(*) AS n, sum(i.cpu_m) AS cpu_m, sum(i.memory_mib) AS memory_mib
    FROM weft.worker_incarnation i
    WHERE i.ended_at IS NULL AND weft._has_cores(i)
    GROUP BY 1
)
SELECT
    coalesce(t.pool_id, l.pool_id) AS pool_id,
    t.n,
    l.n AS n_live,
    t.cpu_m,
    l.cpu_m AS cpu_m_live,
    t.memory_mib,
    l.memory_mib AS memory_mib_live
FROM told t
FULL JOIN live l ON l.pool_id = t.pool_id
WHERE (coalesce(t.n, 0), coalesce(t.cpu_m, 0), coalesce(t.memory_mib, 0)) <> (
    coalesce(l.n, 0), coalesce(l.cpu_m, 0), coalesce(l.memory_mib, 0)
)
