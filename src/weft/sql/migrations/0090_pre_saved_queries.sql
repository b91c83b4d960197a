-- Queries for batches that users have given a name.
CREATE TABLE weft.saved_query (
    user_id int NOT NULL REFERENCES weft.tenant_user (user_id),
    name text NOT NULL CHECK (name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,62}$'),
    tenant_id int NOT NULL,
    query text NOT NULL CHECK (length(query) BETWEEN 1 AND 65536),
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, name)
);
ALTER TABLE weft.saved_query ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON weft.saved_query TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.saved_query TO weft_system USING (true);
