-- _pools_serving: the pools that queues of a tenant may use, as _serves_tenant says: its own and shared ones;
--   none if there is no tenant.
-- Plan: inlined; pools by index, none of those of other tenants.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._pools_serving(of_tenant_id int) RETURNS TABLE (pool_id int, name text)
LANGUAGE sql STABLE AS $$
    SELECT p.pool_id, p.name
    FROM weft.pool p
    WHERE p.serves_tenant_id = of_tenant_id
    UNION ALL
    SELECT p.pool_id, p.name
    FROM weft.pool p
    WHERE p.serves_tenant_id IS NULL AND of_tenant_id IS NOT NULL
$$;
