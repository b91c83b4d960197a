-- Names of users and billing projects are unique without regard to case. Behind the tenant's wall no index serves lower(name): it could
-- tell of rows that are not seen, and so each look for a name read all users or projects of the tenant. It serves `=` on a column.
ALTER TABLE weft.tenant_user ADD COLUMN name_key text NOT NULL GENERATED ALWAYS AS (lower(name)) STORED;
ALTER TABLE weft.billing_project ADD COLUMN name_key text NOT NULL GENERATED ALWAYS AS (lower(name)) STORED;
CREATE UNIQUE INDEX tenant_user_name_key_idx ON weft.tenant_user (tenant_id, name_key);
CREATE UNIQUE INDEX billing_project_name_key_idx ON weft.billing_project (tenant_id, name_key);
