-- The usage of every group and billing project, folded and not folded together, equals the sum over its
--   attempts, to the millisecond.
-- Those of removed batches are summed in removed_usage, from the moment on when the removal of rows begins.
WITH part AS (
    SELECT
        a.batch_id,
        a.job_id,
        a.rate_card_id,
        a.shape_id,
        coalesce(date_part('epoch', a.ended_at - a.started_at) * 1000, 0)::bigint AS ms
    FROM weft.attempt a
    WHERE NOT EXISTS (SELECT FROM weft.batch d WHERE d.batch_id = a.batch_id AND d.removing)
    UNION ALL
    SELECT j.batch_id, j.job_id, j.rate_card_id, j.shape_id, j.billed_ms
    FROM weft.job j
    WHERE j.state = STATE_RUNNING
),
recounted AS (
    SELECT
        'group' AS kind,
        p.batch_id AS id,
        n.ancestor_id AS group_id,
        p.rate_card_id,
        p.shape_id,
        sum(p.ms) AS ms
    FROM part p
    JOIN weft.job j ON j.batch_id = p.batch_id AND j.job_id = p.job_id
    JOIN weft.group_ancestor n ON n.batch_id = j.batch_id AND n.group_id = j.group_id
    GROUP BY 2, 3, 4, 5
    UNION ALL
    SELECT 'project', b.project_id, 0, p.rate_card_id, p.shape_id, sum(p.ms)
    FROM part p
    JOIN weft.batch b ON b.batch_id = p.batch_id
    GROUP BY 2, 4, 5
    UNION ALL
    SELECT 'project', r.project_id, 0, r.rate_card_id, r.shape_id, r.usage_ms
    FROM weft.removed_usage r
),
delta AS (SELECT d.* FROM weft._unfolded() d WHERE d.rate_card_id IS NOT NULL),
counted AS (
    SELECT x.kind, x.id, x.group_id, x.rate_card_id, x.shape_id, sum(x.ms) AS ms
    FROM (
        SELECT 'group' AS kind, u.batch_id AS id, u.group_id, u.rate_card_id, u.shape_id, u.usage_ms AS ms
        FROM weft.group_usage u
        WHERE NOT EXISTS (SELECT FROM weft.batch d WHERE d.batch_id = u.batch_id AND d.removing)
        UNION ALL
        SELECT 'group', d.batch_id, n.ancestor_id, d.rate_card_id, d.shape_id, d.usage_ms
        FROM delta d
        JOIN weft.group_ancestor n ON n.batch_id = d.batch_id AND n.group_id = d.group_id
        UNION ALL
        SELECT 'project', u.project_id, 0, u.rate_card_id, u.shape_id, u.usage_ms
        FROM weft.project_usage u
        UNION ALL
        SELECT 'project', b.project_id, 0, d.rate_card_id, d.shape_id, d.usage_ms
        FROM delta d
        JOIN weft.batch b ON b.batch_id = d.batch_id
    ) x
    GROUP BY 1, 2, 3, 4, 5
)
SELECT
    coalesce(c.kind, r.kind) AS kind,
    coalesce(c.id, r.id) AS id,
    coalesce(c.group_id, r.group_id) AS group_id,
    c.ms AS counted,
    r.ms AS recounted
FROM counted c
FULL JOIN (
    SELECT r.kind, r.id, r.group_id, r.rate_card_id, r.shape_id, sum(r.ms) AS ms
    FROM recounted r
    GROUP BY 1, 2, 3, 4, 5
) r ON r.kind = c.kind
    AND r.id = c.id
    AND r.group_id = c.group_id
    AND r.rate_card_id = c.rate_card_id
    AND r.shape_id = c.shape_id
WHERE coalesce(c.ms, 0) <> coalesce(r.ms, 0)
