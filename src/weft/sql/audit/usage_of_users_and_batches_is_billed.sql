-- Users and batches used nothing that their billing project does not pay for, and no batch used more than its
--   user.
-- What removed batches used, and what was used before these sums were kept, has no sum of a batch.
WITH of_batch AS (
    SELECT u.batch_id, u.project_id, b.user_id, u.usage_on, u.rate_card_id, u.shape_id, u.usage_ms
    FROM weft.batch_usage u
    JOIN weft.batch b
    USING (batch_id)
),
compared AS (
    SELECT
        'user' AS kind,
        u.user_id::bigint AS id,
        u.project_id, u.usage_on, u.rate_card_id, u.shape_id,
        u.usage_ms AS counted,
        coalesce(b.ms, 0) AS least,
        p.usage_ms AS most
    FROM weft.user_usage u
    LEFT JOIN (
        SELECT x.project_id, x.user_id, x.usage_on, x.rate_card_id, x.shape_id, sum(x.usage_ms) AS ms
        FROM of_batch x
        GROUP BY 1, 2, 3, 4, 5
    ) b
    USING (project_id, user_id, usage_on, rate_card_id, shape_id)
    LEFT JOIN weft.project_usage p
    USING (project_id, usage_on, rate_card_id, shape_id)
    UNION ALL
    SELECT
        'users', NULL, u.project_id, u.usage_on, u.rate_card_id, u.shape_id, sum(u.usage_ms), 0,
        min(p.usage_ms)
    FROM weft.user_usage u
    LEFT JOIN weft.project_usage p
    USING (project_id, usage_on, rate_card_id, shape_id)
    GROUP BY 3, 4, 5, 6
    UNION ALL
    SELECT
        'batch', b.batch_id, b.project_id, b.usage_on, b.rate_card_id, b.shape_id, b.usage_ms, 0, u.usage_ms
    FROM of_batch b
    LEFT JOIN weft.user_usage u
    USING (project_id, user_id, usage_on, rate_card_id, shape_id)
    UNION ALL
    SELECT
        'batch in all', b.batch_id, NULL, NULL, b.rate_card_id, b.shape_id, sum(b.usage_ms), 0,
        min(g.usage_ms)
    FROM of_batch b
    LEFT JOIN weft.group_usage g ON g.batch_id = b.batch_id
        AND g.group_id = 0
        AND g.rate_card_id = b.rate_card_id
        AND g.shape_id = b.shape_id
    WHERE NOT EXISTS (SELECT FROM weft.batch d WHERE d.batch_id = b.batch_id AND d.removing)
    GROUP BY 2, 5, 6
)
SELECT c.*
FROM compared c
WHERE c.counted < c.least OR c.counted > coalesce(c.most, 0)
