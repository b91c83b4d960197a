-- Secrets of users for their jobs (ADR 54). What is stored is encrypted: the database and its copies hold no value.
CREATE TABLE weft.secret (
    user_id int NOT NULL REFERENCES weft.tenant_user (user_id),
    name text NOT NULL CHECK (name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,62}$'),
    tenant_id int NOT NULL,
    body bytea NOT NULL CHECK (length(body) BETWEEN 37 AND 2097152),   -- weft.wire.sealed
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (user_id, name)
);
ALTER TABLE weft.secret ALTER COLUMN body SET STORAGE EXTERNAL;  -- what is encrypted does not compress
ALTER TABLE weft.secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON weft.secret TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.secret TO weft_system USING (true);
