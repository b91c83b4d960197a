-- The jobs of doors that lists show, and those in each state, are as many as was counted, for each door and
--   user.
WITH told AS (
    SELECT f.tenant_id, f.door, f.user_id, coalesce(f.state, -2) AS state, sum(f.n) AS n
    FROM weft.foreign_count f
    GROUP BY 1, 2, 3, 4
),
there AS (
    SELECT b.tenant_id, b.door, b.user_id, -2 AS state
    FROM weft.batch b
    WHERE b.foreign_id IS NOT NULL AND b.deleted_at IS NULL AND NOT b.hidden
    UNION ALL
    SELECT e.tenant_id, e.door, e.user_id, e.state
    FROM weft.foreign_state e
),
shown AS (SELECT tenant_id, door, user_id, state, count(*) AS n FROM there GROUP BY 1, 2, 3, 4)
SELECT tenant_id, door, user_id, state, t.n, s.n AS of_batches
FROM told t
FULL JOIN shown s
USING (tenant_id, door, user_id, state)
WHERE coalesce(t.n, 0) <> coalesce(s.n, 0)
