-- The counts of each user equal those of the user's batches that are not complete; those of billing projects
--   and of tenants are their sums.
WITH batches AS (
    SELECT
        b.tenant_id, b.user_id, b.project_id, c.n_pending, c.n_ready, c.n_queued, c.n_creating, c.n_running,
        c.n_blocked
    FROM weft.group_count c
    JOIN weft.batch b ON b.batch_id = c.batch_id
    WHERE c.group_id = 0 AND NOT c.complete
),
open AS (
    SELECT
        b.tenant_id,
        coalesce(b.user_id, 0) AS user_id,
        coalesce(b.project_id, 0) AS project_id,
        ARRAY[
            sum(b.n_pending),
            sum(b.n_ready),
            sum(b.n_queued),
            sum(b.n_creating),
            sum(b.n_running),
            sum(b.n_blocked)
        ] AS counts
    FROM batches b
    GROUP BY b.tenant_id, GROUPING SETS ((b.user_id, b.project_id), (b.project_id), ())
),
told AS (
    SELECT
        u.tenant_id,
        u.user_id,
        u.project_id,
        ARRAY[u.n_pending, u.n_ready, u.n_queued, u.n_creating, u.n_running, u.n_blocked]::numeric[] AS counts
    FROM weft.user_count u
)
SELECT tenant_id, user_id, project_id, t.counts, o.counts AS of_batches
FROM told t
FULL JOIN open o
USING (tenant_id, user_id, project_id)
WHERE coalesce(t.counts, '{0,0,0,0,0,0}') <> coalesce(o.counts, '{0,0,0,0,0,0}')
