-- Each condition notes the batches of the jobs that wait there, and whose they are.
SELECT
    coalesce(k.batch_id, c.batch_id) AS batch_id,
    coalesce(k.condition_id, c.condition_id) AS condition_id,
    c.owner_id,
    c.project_id
FROM (SELECT DISTINCT x.batch_id, x.condition_id FROM weft.blocked_job x WHERE x.condition_id IS NOT NULL) k
FULL JOIN weft.condition_batch c ON c.batch_id = k.batch_id AND c.condition_id = k.condition_id
LEFT JOIN weft.batch b ON b.batch_id = c.batch_id
WHERE (c.tenant_id, c.owner_id, c.project_id) IS DISTINCT FROM (b.tenant_id, b.user_id, b.project_id)
    OR c.batch_id IS NULL
