-- list_workers: the documents of the workers by name in the pools that serve a tenant (NULL: in all), from a
--   worker on; those that have ended in order only if asked for.
-- Plan: workers in the order of their names, a page; where tenants have pools of their own a page of each
--   pool that serves this one; the newest incarnation of each by index; as _worker_documents.
-- after_name, after_pool: the last worker of the page before; NULL: from the first.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_workers(
    tenant_id int,
    pools_of_tenant_id int,
    with_deleted boolean,
    after_name text,
    after_pool text,
    limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql STABLE PLAN_BY_KEY PLAN_IN_ORDER PLAN_ONCE AS $$
DECLARE
    v_tenant int := weft._walled_tenant(pools_of_tenant_id);
    v_name text := coalesce(after_name, '');
    v_ids int[];
    v_id int := coalesce(
        (
            SELECT x.worker_id
            FROM weft.worker x
            JOIN weft.pool y
            USING (pool_id)
            WHERE y.name = after_pool AND x.name = after_name
        ),
        0
    );
BEGIN
    IF v_tenant IS NULL AND with_deleted THEN
        v_ids := ARRAY(
            SELECT w.worker_id
            FROM weft.worker w
            WHERE (w.name, w.worker_id) > (v_name, v_id)
            ORDER BY w.name, w.worker_id
            LIMIT limit_rows
        );
    ELSIF v_tenant IS NULL THEN
        v_ids := ARRAY(
            SELECT w.worker_id
            FROM weft.worker w
            WHERE w.deleted_at IS NULL AND (w.name, w.worker_id) > (v_name, v_id)
            ORDER BY w.name, w.worker_id
            LIMIT limit_rows
        );
    ELSE
        -- Comparing pool and name leaves no other index to choose.
        v_ids := ARRAY(
            SELECT w.worker_id
            FROM weft._pools_serving(v_tenant) p
            CROSS JOIN LATERAL (
                (
                    SELECT x.worker_id, x.name
                    FROM weft.worker x
                    WHERE with_deleted
                        AND (x.pool_id, x.name) >= (p.pool_id, v_name)
                        AND x.pool_id <= p.pool_id
                        AND (x.name, x.worker_id) > (v_name, v_id)
                    ORDER BY x.pool_id, x.name
                    LIMIT limit_rows
                ) UNION ALL (
                    SELECT x.worker_id, x.name
                    FROM weft.worker x
                    WHERE NOT with_deleted
                        AND x.deleted_at IS NULL
                        AND (x.pool_id, x.name) >= (p.pool_id, v_name)
                        AND x.pool_id <= p.pool_id
                        AND (x.name, x.worker_id) > (v_name, v_id)
                    ORDER BY x.pool_id, x.name
                    LIMIT limit_rows
                )
            ) w
            ORDER BY w.name, w.worker_id
            LIMIT limit_rows
        );
    END IF;
    RETURN QUERY
    SELECT d.document
    FROM weft._worker_documents(
        list_workers.tenant_id,
        ARRAY(
            SELECT (
                SELECT i.incarnation_id
                FROM weft.worker_incarnation i
                WHERE i.worker_id = w
                ORDER BY i.incarnation_id DESC
                LIMIT 1
            )
            FROM unnest(v_ids) w
        )
    ) d
    ORDER BY d.name, d.worker_id;
END $$;
