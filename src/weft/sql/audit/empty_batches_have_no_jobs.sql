-- A batch that quotas count as one without jobs has none that were committed, and belongs to the tenant for
--   which it counts.
SELECT e.batch_id, e.tenant_id
FROM weft.empty_batch e
JOIN weft.batch b
USING (batch_id)
WHERE b.tenant_id <> e.tenant_id
    OR EXISTS (
        SELECT
        FROM weft.batch_update u
        WHERE u.batch_id = e.batch_id AND u.n_jobs > 0 AND u.committed_at IS NOT NULL
    )
