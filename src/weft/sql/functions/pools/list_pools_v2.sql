-- list_pools_v2: the pools by name that serve a tenant (NULL: all pools): what is described, and how many machines each has in which state.
-- Called by: Store.list_pools (api).   Safe to repeat: yes, it only reads.
-- Plan: all pools, which are few; machines that are not deleted, by the partial index.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_pools_v2(of_tenant_id int) RETURNS SETOF jsonb LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object('pool', p.name, 'plan', p.plan || jsonb_build_object('tenant', t.name), 'machines', (
        SELECT coalesce(jsonb_object_agg(x.state, x.n), '{}')
        FROM (SELECT m.state, count(*) AS n FROM weft.machine m WHERE m.pool_id = p.pool_id AND m.state <> 'deleted' GROUP BY 1) x))
    FROM weft.pool p LEFT JOIN weft.tenant t ON t.tenant_id = p.serves_tenant_id WHERE weft._serves_tenant(p, of_tenant_id) ORDER BY p.name
$$;
