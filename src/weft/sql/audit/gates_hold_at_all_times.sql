-- At no time did jobs behind a gate have more places of it than it ever had; so no licence was over-used, and
--   no quota of cores.
-- What was claimed before all jobs had the gates of a first quota of cores does not count.
-- A claim is dated before it looks, and a report may end another attempt meanwhile: an attempt counts from 1
--   s after its claim.
WITH run AS (
    SELECT x.*, x.claimed_at + interval '1 second' AS began_at
    FROM weft._runs() x
    WHERE x.ended_at IS NULL OR x.claimed_at + interval '1 second' < x.ended_at
),
point AS (
    SELECT m.gate_id, p.at, sum(p.n * CASE WHEN k.cost = 'cpu' THEN h.cpu_m ELSE m.cost END) AS n
    FROM run r
    JOIN weft.batch b ON b.batch_id = r.batch_id AND b.gated
    JOIN weft.job j ON j.batch_id = r.batch_id AND j.job_id = r.job_id
    CROSS JOIN LATERAL (
        SELECT y.gate_id, max(y.cost) AS cost
        FROM weft.gate_member y
        WHERE y.gate_set_id IN (b.gate_set_id, j.gate_set_id)
        GROUP BY 1
    ) m
    JOIN weft.gate g ON g.gate_id = m.gate_id
    LEFT JOIN weft._gate_kinds() k ON k.kind = g.kind
    JOIN weft.shape h ON h.shape_id = r.shape_id  -- earlier attempts may have asked for fewer cores
    CROSS JOIN LATERAL (VALUES (r.began_at, 1), (r.ended_at, -1)) p (at, n)
    WHERE p.at IS NOT NULL
        AND k.by_date IS NOT TRUE
        AND NOT EXISTS (
            SELECT
            FROM weft.core_sweep s
            WHERE s.tenant_id = b.tenant_id
                AND k.limited_by = 'quota'
                AND (k.each_user AND s.user_id IN (0, b.user_id) OR NOT k.each_user AND s.user_id = -1)
                AND coalesce(s.done_at, 'infinity') >= r.claimed_at
        )
    GROUP BY 1, 2
),
level AS (
    SELECT p.gate_id, p.at, sum(p.n) OVER (PARTITION BY p.gate_id ORDER BY p.at) AS n_running FROM point p
)
SELECT g.gate_id, g.kind, g.key, l.at, l.n_running, g.max_ever
FROM level l
JOIN weft.gate g
USING (gate_id)
WHERE l.n_running > g.max_ever
