-- get_worker: get_worker_v2 with all pools, as programs of the previous release call it.
-- Called by: nobody of this release.   Safe to repeat: yes, it only reads.   Plan: as get_worker_v2.   Raises as _find_worker.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_worker(tenant_id int, of_name text, of_pool text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT weft.get_worker_v2(get_worker.tenant_id, NULL, of_name, of_pool)
$$;
