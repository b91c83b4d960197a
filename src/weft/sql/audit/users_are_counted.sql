-- The counts of each user equal those of the user's batches that are not complete.
WITH open AS (
    SELECT b.tenant_id, b.user_id, b.project_id,
        ARRAY[sum(c.n_pending), sum(c.n_ready), sum(c.n_queued), sum(c.n_creating), sum(c.n_running), sum(c.n_blocked)] AS counts
    FROM weft.group_count c JOIN weft.batch b ON b.batch_id = c.batch_id WHERE c.group_id = 0 AND NOT c.complete GROUP BY 1, 2, 3),
told AS (
    SELECT u.tenant_id, u.user_id, u.project_id,
        ARRAY[u.n_pending, u.n_ready, u.n_queued, u.n_creating, u.n_running, u.n_blocked]::numeric[] AS counts
    FROM weft.user_count u)
SELECT tenant_id, user_id, project_id, t.counts, o.counts AS of_batches
FROM told t FULL JOIN open o USING (tenant_id, user_id, project_id)
WHERE coalesce(t.counts, '{0,0,0,0,0,0}') <> coalesce(o.counts, '{0,0,0,0,0,0}')
