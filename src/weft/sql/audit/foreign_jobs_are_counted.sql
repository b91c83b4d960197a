-- The jobs of doors that lists show are as many as was counted, for each door, user and billing project.
WITH told AS (
    SELECT f.tenant_id, f.door, f.user_id, f.project_id, sum(f.n) AS n FROM weft.foreign_count f GROUP BY 1, 2, 3, 4),
shown AS (
    SELECT b.tenant_id, b.door, b.user_id, b.project_id, count(*) AS n FROM weft.batch b
    WHERE b.foreign_id IS NOT NULL AND b.deleted_at IS NULL AND NOT b.hidden GROUP BY 1, 2, 3, 4)
SELECT tenant_id, door, user_id, project_id, t.n, s.n AS of_batches
FROM told t FULL JOIN shown s USING (tenant_id, door, user_id, project_id)
WHERE coalesce(t.n, 0) <> coalesce(s.n, 0)
