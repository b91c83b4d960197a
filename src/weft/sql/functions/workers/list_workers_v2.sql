-- list_workers_v2: the documents of the workers by name in the pools that serve a tenant (NULL: in all), from a worker on;
--   those that have ended in order only if asked for.
-- Called by: Store.list_workers (api).   Safe to repeat: yes, it only reads.
-- Plan: workers in the order of their names, a page; the newest incarnation of each by index; as _worker_documents.
-- after_name, after_pool: the last worker of the page before; NULL: from the first.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_workers_v2(tenant_id int, pools_of_tenant_id int, with_deleted boolean, after_name text,
    after_pool text, limit_rows int)
RETURNS SETOF jsonb LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
AS $$
    SELECT d.document
    FROM weft._worker_documents(list_workers_v2.tenant_id, ARRAY(
        SELECT (SELECT i.incarnation_id FROM weft.worker_incarnation i WHERE i.worker_id = w.worker_id
                ORDER BY i.incarnation_id DESC LIMIT 1)
        FROM weft.worker w JOIN weft.pool p USING (pool_id)
        WHERE weft._serves_tenant(p, pools_of_tenant_id) AND (with_deleted OR w.deleted_at IS NULL)
            AND (after_name IS NULL OR w.name >= after_name AND (w.name, w.worker_id) > (after_name, coalesce((
                SELECT x.worker_id FROM weft.worker x JOIN weft.pool y USING (pool_id)
                WHERE y.name = after_pool AND x.name = after_name), 0)))
        ORDER BY w.name, w.worker_id LIMIT limit_rows)) d
    ORDER BY d.name, d.worker_id
$$;
