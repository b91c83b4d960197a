-- Replaced by tenant_user.role.
ALTER TABLE weft.tenant_user DROP COLUMN is_admin;
