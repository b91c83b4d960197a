-- The tenant whose queues may use a pool; NULL: all tenants share it. It stays when the pool is described no more.
ALTER TABLE weft.pool ADD COLUMN serves_tenant_id int REFERENCES weft.tenant;
