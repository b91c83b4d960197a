-- _serves_tenant: whether queues of a tenant may use a pool; NULL: of any tenant, so every pool does.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._serves_tenant(of_pool weft.pool, of_tenant_id int) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT of_tenant_id IS NULL
        OR (of_pool).serves_tenant_id IS NULL
        OR (of_pool).serves_tenant_id = of_tenant_id
$$;
