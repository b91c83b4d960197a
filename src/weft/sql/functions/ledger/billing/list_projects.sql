-- list_projects: list_projects_v2 without pages, as programs of the previous release call it.
-- Called by: nobody of this release.   Safe to repeat: yes, it only reads.   Plan: as list_projects_v2.   Raises as list_projects_v2.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_projects(tenant_id int, of_user_id int, of_name text) RETURNS SETOF jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT weft.list_projects_v2(list_projects.tenant_id, list_projects.of_user_id, list_projects.of_name, NULL, NULL, NULL, NULL)
$$;
