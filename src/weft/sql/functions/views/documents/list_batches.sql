-- list_batches: list_batches_v2 as an api of the previous release calls it, which knows no hidden batches and shows all.
-- Called by: Store.list_batches (api, previous release).   Safe to repeat: yes, it only reads.   Plan: as list_batches_v2.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_batches(tenant_id int, before bigint, limit_rows int, of_name text) RETURNS SETOF jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT weft.list_batches_v2(tenant_id, before, limit_rows, of_name, true) $$;
