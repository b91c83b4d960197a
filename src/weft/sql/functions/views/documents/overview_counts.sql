-- overview_counts: how many jobs that the caller sees wait and run, and for how many conditions that they
--   see (1000: at least).
-- Plan: the counts of the tenant, one row; or those of the caller and of each billing project that they are a
--   member of, and of batches that others share; the unfolded deltas; conditions of the tenant, or as
--   _shown_conditions, at most 1,000.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.overview_counts(tenant_id int) RETURNS jsonb
LANGUAGE sql STABLE SET enable_bitmapscan = off AS $$
    WITH caller AS (SELECT weft._caller_id() AS user_id),
    part AS (
        SELECT c.n_pending, c.n_ready, c.n_running, c.n_queued, c.n_blocked
        FROM caller u
        JOIN weft.user_count c ON c.tenant_id = overview_counts.tenant_id
            AND c.user_id = coalesce(u.user_id, 0)
            AND c.project_id BETWEEN 0 AND CASE WHEN u.user_id IS NULL THEN 0 ELSE 2147483647 END
        WHERE NOT EXISTS (
            SELECT FROM weft.billing_member m WHERE m.project_id = c.project_id AND m.user_id = u.user_id
        )
        UNION ALL
        SELECT c.n_pending, c.n_ready, c.n_running, c.n_queued, c.n_blocked
        FROM caller u
        JOIN weft.billing_member m ON m.user_id = u.user_id AND m.tenant_id = overview_counts.tenant_id
        CROSS JOIN LATERAL (
            SELECT x.*
            FROM weft.user_count x
            WHERE x.tenant_id = overview_counts.tenant_id AND x.user_id = 0 AND x.project_id = m.project_id
            OFFSET 0
        ) c
        UNION ALL
        SELECT c.n_pending, c.n_ready, c.n_running, c.n_queued, c.n_blocked
        FROM caller u
        JOIN weft.batch_grant g ON g.user_id = u.user_id
            AND g.job_id = 0
            AND g.tenant_id = overview_counts.tenant_id
        CROSS JOIN LATERAL (
            SELECT x.* FROM weft.batch x WHERE x.batch_id = g.batch_id AND x.user_id <> u.user_id OFFSET 0
        ) b
        JOIN weft.group_count c ON c.batch_id = b.batch_id AND c.group_id = 0
        WHERE NOT EXISTS (
            SELECT FROM weft.billing_member m WHERE m.project_id = b.project_id AND m.user_id = u.user_id
        )
        UNION ALL
        SELECT sum(d.n_pending), sum(d.n_ready), sum(d.n_running), sum(d.n_queued), sum(d.n_blocked)
        FROM weft._unfolded() d
        WHERE d.tenant_id = overview_counts.tenant_id
        GROUP BY d.batch_id
        HAVING weft._sees_batch(d.batch_id)
    )
    SELECT jsonb_build_object(
        'pending', (SELECT coalesce(sum(n_pending), 0) FROM part),
        'ready', (SELECT coalesce(sum(n_ready), 0) FROM part),
        'running', (SELECT coalesce(sum(n_running), 0) FROM part),
        'queued', (SELECT coalesce(sum(n_queued), 0) FROM part),
        'blocked', (SELECT coalesce(sum(n_blocked), 0) FROM part),
        'conditions', CASE
            WHEN weft._caller_id() IS NOT NULL THEN (SELECT count(*) FROM weft._shown_conditions(0, 1000))
            ELSE (
                SELECT count(*)
                FROM (SELECT FROM weft.condition c WHERE c.tenant_id = overview_counts.tenant_id LIMIT 1000) x
            )
        END
    )
$$;
