-- list_tenants: a page of all tenants, in the order of their numbers, with how many users each has.
-- Called by: Store.list_tenants (api), for administrators of the site.   Safe to repeat: yes, it only reads.
-- Plan: tenants by key, their users by index.
-- Returns: documents.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_tenants(after int, limit_rows int) RETURNS SETOF jsonb LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object('tenant_id', t.tenant_id, 'name', t.name, 'n_users', (
        SELECT count(*) FROM weft.tenant_user u WHERE u.tenant_id = t.tenant_id AND u.removed_at IS NULL))
    FROM weft.tenant t WHERE t.tenant_id > list_tenants.after ORDER BY t.tenant_id LIMIT limit_rows
$$;
