-- The jobs of doors that lists show are as many as was counted, for each door and user.
WITH told AS (
    SELECT f.tenant_id, f.door, f.user_id, sum(f.n) AS n FROM weft.foreign_count f GROUP BY 1, 2, 3),
shown AS (
    SELECT b.tenant_id, b.door, b.user_id, count(*) AS n FROM weft.batch b
    WHERE b.foreign_id IS NOT NULL AND b.deleted_at IS NULL AND NOT b.hidden GROUP BY 1, 2, 3)
SELECT tenant_id, door, user_id, t.n, s.n AS of_batches
FROM told t FULL JOIN shown s USING (tenant_id, door, user_id)
WHERE coalesce(t.n, 0) <> coalesce(s.n, 0)
