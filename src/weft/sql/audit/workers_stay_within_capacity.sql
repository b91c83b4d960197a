-- At no time did a worker's running attempts exceed its cpu, memory, lane amounts or slots.
-- An attempt counts while it surely ran. A late report gives dates that are too late, each by another time;
--   but nothing begins before its
-- claim and the fetch of its inputs, and no duration is too long: it has begun by started_at, from 1 s after
--   which it counts, and ends its
-- duration after these at the earliest. That is too early by what else it waited for on its host, as a place
--   in the queue or its image.
-- While outputs are kept its processes have ended. When those of a lost one ended nobody knows: it does not
--   count.
WITH run AS (
    SELECT a.incarnation_id, a.shape_id, a.started_at + interval '1 second' AS started_at, e.ended_at
    FROM weft.attempt a
    LEFT JOIN weft.attempt_staging s
    USING (batch_id, job_id, attempt)
    CROSS JOIN LATERAL (
        SELECT a.claimed_at + (a.ended_at - a.started_at)
            + (coalesce(s.staging_ms, 0) - coalesce(s.storing_ms, 0)) * interval '1 ms' AS ended_at
    ) e
    WHERE a.reason IS DISTINCT FROM REASON_LOST AND a.started_at + interval '1 second' < e.ended_at
    UNION ALL
    SELECT j.incarnation_id, j.shape_id, j.started_at, NULL
    FROM weft.job j
    WHERE j.state = STATE_RUNNING AND j.started_at IS NOT NULL
),
asked AS (
    SELECT s.shape_id, x.name, x.amount
    FROM weft.shape s
    CROSS JOIN LATERAL (VALUES ('cpu_m', s.cpu_m), ('memory_mib', s.memory_mib)) x (name, amount)
    UNION ALL
    SELECT s.shape_id, a.key, a.value::bigint
    FROM weft.shape s
    JOIN weft.lane l
    USING (lane_id)
    CROSS JOIN LATERAL jsonb_each_text(l.amounts) a
),
slot AS (
    SELECT r.incarnation_id, r.started_at, r.ended_at
    FROM run r
    JOIN weft.worker_incarnation i
    USING (incarnation_id)
    WHERE i.offers ? 'slots'
),
point AS (
    SELECT r.incarnation_id, r.started_at AS at, a.name, a.amount
    FROM run r
    JOIN asked a
    USING (shape_id)
    UNION ALL
    SELECT r.incarnation_id, r.ended_at, a.name, -a.amount
    FROM run r
    JOIN asked a
    USING (shape_id)
    WHERE r.ended_at IS NOT NULL
    UNION ALL
    SELECT s.incarnation_id, s.started_at, 'slots', 1
    FROM slot s
    UNION ALL
    SELECT s.incarnation_id, s.ended_at, 'slots', -1
    FROM slot s
    WHERE s.ended_at IS NOT NULL
),
level AS (
    SELECT
        p.incarnation_id,
        p.name,
        p.at,
        sum(p.amount) OVER (PARTITION BY p.incarnation_id, p.name ORDER BY p.at) AS amount
    FROM (SELECT incarnation_id, name, at, sum(amount) AS amount FROM point GROUP BY 1, 2, 3) p
)
SELECT l.incarnation_id, l.at, l.name, l.amount, c.amount_max
FROM level l
JOIN weft.worker_incarnation i
USING (incarnation_id)
CROSS JOIN LATERAL (
    SELECT coalesce(
        CASE l.name
            WHEN 'cpu_m' THEN i.cpu_m
            WHEN 'memory_mib' THEN i.memory_mib
            ELSE (weft._offers(i) ->> l.name)::bigint
        END,
        0
    ) AS amount_max
) c
WHERE l.amount > c.amount_max
