-- list_pools: list_pools_v2 of all tenants, as programs of the previous release call it.
-- Called by: nobody of this release.   Safe to repeat: yes, it only reads.   Plan: as list_pools_v2.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_pools() RETURNS SETOF jsonb LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT weft.list_pools_v2(NULL, NULL, NULL, NULL)
$$;
