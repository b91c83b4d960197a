-- overview: overview_v2 with all pools, as programs of the previous release call it.
-- Called by: nobody of this release.   Safe to repeat: yes, it only reads.   Plan: as overview_v2.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.overview(tenant_id int) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT weft.overview_v2(overview.tenant_id, NULL)
$$;
