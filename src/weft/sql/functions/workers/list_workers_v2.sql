-- list_workers_v2: the documents of the workers by name in the pools that serve a tenant (NULL: in all);
--   those that have ended in order only if asked for.
-- Called by: Store.list_workers (api).   Safe to repeat: yes, it only reads.   Plan: all incarnations, once; as _worker_documents.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_workers_v2(tenant_id int, pools_of_tenant_id int, with_deleted boolean, limit_rows int)
RETURNS SETOF jsonb LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT d.document
    FROM weft._worker_documents(list_workers_v2.tenant_id,
        ARRAY(SELECT max(i.incarnation_id) FROM weft.worker_incarnation i
            WHERE i.pool_id IN (SELECT p.pool_id FROM weft.pool p WHERE weft._serves_tenant(p, pools_of_tenant_id)) GROUP BY i.worker_id)) d
    WHERE d.state <> 'deleted' OR list_workers_v2.with_deleted
    ORDER BY d.name, d.worker_id LIMIT limit_rows
$$;
