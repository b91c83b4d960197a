-- overview: workers in the pools that serve a tenant (NULL: in all) with what runs there, and how many jobs
--   that the caller sees wait and run; for `weft top` and for metrics. has_lines: whether there ever were
--   parts of production lines.
-- Plan: as overview_counts; as _worker_documents, of all; living incarnations by pool.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.overview(tenant_id int, pools_of_tenant_id int) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT weft.overview_counts(overview.tenant_id) || jsonb_build_object(
        'workers', (
            SELECT coalesce(jsonb_agg(d.document ORDER BY d.name, d.worker_id), '[]')
            FROM weft._worker_documents(
                overview.tenant_id,
                ARRAY(
                    SELECT i.incarnation_id
                    FROM weft.worker_incarnation i
                    WHERE i.ended_at IS NULL AND weft._walled_tenant(pools_of_tenant_id) IS NULL
                    UNION ALL
                    SELECT i.incarnation_id
                    FROM weft._pools_serving(weft._walled_tenant(pools_of_tenant_id)) p
                    CROSS JOIN LATERAL (
                        SELECT x.incarnation_id
                        FROM weft.worker_incarnation x
                        WHERE x.ended_at IS NULL AND x.pool_id = p.pool_id
                        OFFSET 0
                    ) i
                )
            ) d
        ),
        'has_lines', EXISTS (SELECT FROM weft.source s WHERE s.tenant_id = overview.tenant_id)
            OR EXISTS (SELECT FROM weft.sink k WHERE k.tenant_id = overview.tenant_id)
            OR EXISTS (SELECT FROM weft.lifecycle l WHERE l.tenant_id = overview.tenant_id)
    )
$$;
