-- _furnish_tenant: make what every tenant has, with its first user as a member: the billing project and the
--   queue `default`, to the pool `default`, which all tenants share.
-- Safe to repeat: yes.
-- Locks: none but new rows.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._furnish_tenant(of_tenant_id int, of_user_id int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO weft.billing_project (tenant_id, name)
    VALUES (of_tenant_id, 'default')
    ON CONFLICT DO NOTHING;
    INSERT INTO weft.billing_member (project_id, user_id, tenant_id)
    SELECT p.project_id, of_user_id, of_tenant_id
    FROM weft.billing_project p
    WHERE p.tenant_id = of_tenant_id AND p.name = 'default'
    ON CONFLICT DO NOTHING;
    INSERT INTO weft.queue (tenant_id, pool_id, name)
    SELECT of_tenant_id, p.pool_id, 'default'
    FROM weft.pool p
    WHERE p.name = 'default'
    ON CONFLICT DO NOTHING;
END $$;
