-- list_workers: list_workers_v2 with all pools, as programs of the previous release call it.
-- Called by: nobody of this release.   Safe to repeat: yes, it only reads.   Plan: as list_workers_v2.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_workers(tenant_id int, with_deleted boolean, limit_rows int) RETURNS SETOF jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT weft.list_workers_v2(list_workers.tenant_id, NULL, list_workers.with_deleted, NULL, NULL, list_workers.limit_rows)
$$;
