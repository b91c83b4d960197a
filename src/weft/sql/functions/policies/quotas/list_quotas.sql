-- list_quotas: the quotas of the tenant, of each user, and of single users, with what they have of that.
-- Safe to repeat: yes, it only reads.
-- Plan: as _open_work; as _running_cores; as _stored_bytes; users of the tenant.
-- of_user_id: of the users only this one, and not what all have; NULL: all who have quotas of their own, jobs
--   that have not ended or, if there is a quota of bytes, something that is stored.
-- Returns: documents; those of users have the limits that count for them.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_quotas(tenant_id int, of_user_id int) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
DECLARE
    v_counts_bytes boolean;
BEGIN
    v_counts_bytes := EXISTS (
        SELECT FROM weft.quota q WHERE q.tenant_id = list_quotas.tenant_id AND q.bytes_max IS NOT NULL
    );
    RETURN QUERY
    WITH work AS MATERIALIZED (
        SELECT w.user_id, sum(w.n_jobs) AS n_jobs, count(*) AS n_batches
        FROM weft._open_work(list_quotas.tenant_id) w
        GROUP BY 1
    ),
    running AS MATERIALIZED (SELECT c.user_id, c.cpu_m FROM weft._running_cores(list_quotas.tenant_id) c),
    stored AS MATERIALIZED (SELECT s.user_id, s.n_bytes FROM weft._stored_bytes(list_quotas.tenant_id) s),
    listed AS (
        SELECT
            'tenant' AS kind,
            t.name, q.jobs_max, q.batches_max, q.cores_max_m, q.bytes_max, w.n_jobs, w.n_batches,
            CASE WHEN of_user_id IS NULL THEN (SELECT coalesce(sum(r.cpu_m), 0) FROM running r) END AS
                running_m,
            CASE
                WHEN of_user_id IS NULL THEN coalesce((SELECT s.n_bytes FROM stored s WHERE s.user_id = 0), 0)
            END AS n_bytes
        FROM weft.tenant t
        LEFT JOIN weft.quota q ON q.tenant_id = t.tenant_id AND q.user_id = -1
        LEFT JOIN (
            SELECT coalesce(sum(x.n_jobs), 0) AS n_jobs, coalesce(sum(x.n_batches), 0) AS n_batches
            FROM work x
        ) w ON of_user_id IS NULL
        WHERE t.tenant_id = list_quotas.tenant_id
        UNION ALL
        SELECT
            'each_user', NULL, max(q.jobs_max), max(q.batches_max), max(q.cores_max_m), max(q.bytes_max),
            NULL, NULL, NULL, NULL
        FROM weft.quota q
        WHERE q.tenant_id = list_quotas.tenant_id AND q.user_id = 0
        UNION ALL
        SELECT
            'user', u.name, l.jobs_max, l.batches_max, l.cores_max_m, l.bytes_max, coalesce(w.n_jobs, 0),
            coalesce(w.n_batches, 0), coalesce(r.cpu_m, 0), coalesce(s.n_bytes, 0)
        FROM weft.tenant_user u
        LEFT JOIN work w ON w.user_id = u.user_id
        LEFT JOIN running r ON r.user_id = u.user_id
        LEFT JOIN stored s ON s.user_id = u.user_id
        CROSS JOIN LATERAL weft._user_quotas(list_quotas.tenant_id, u.user_id) l
        WHERE u.tenant_id = list_quotas.tenant_id
            AND CASE
                WHEN of_user_id IS NOT NULL THEN u.user_id = of_user_id
                ELSE w.user_id IS NOT NULL
                    OR s.n_bytes > 0 AND v_counts_bytes
                    OR u.removed_at IS NULL
                        AND EXISTS (
                            SELECT FROM weft.quota q WHERE q.tenant_id = u.tenant_id AND q.user_id = u.user_id
                        )
            END
    )
    SELECT jsonb_build_object(
        'kind', x.kind, 'name', x.name, 'jobs', x.jobs_max, 'batches', x.batches_max,
        'cores', trim_scale(x.cores_max_m / 1000.0),
        'bytes', x.bytes_max,
        'n_jobs', x.n_jobs,
        'n_batches', x.n_batches,
        'n_cores', trim_scale(x.running_m / 1000.0),
        'n_bytes', x.n_bytes
    )
    FROM listed x
    ORDER BY array_position(ARRAY['tenant', 'each_user', 'user'], x.kind), x.name;
END $$;
