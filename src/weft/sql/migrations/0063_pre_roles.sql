-- What a user may do: the rights of a role are in core/rights.py.
ALTER TABLE weft.tenant_user ADD COLUMN role text NOT NULL DEFAULT 'user'
    CHECK (role IN ('viewer', 'user', 'operator', 'tenant-admin', 'admin', 'worker'));
UPDATE weft.tenant_user SET role = 'admin' WHERE is_admin;
