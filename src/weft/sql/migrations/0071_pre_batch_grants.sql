-- What users may do with batches that are neither their own nor of a billing project of theirs.
CREATE TABLE weft.batch_grant (
    batch_id bigint NOT NULL,
    user_id int NOT NULL REFERENCES weft.tenant_user,
    tenant_id int NOT NULL,
    permission smallint NOT NULL CHECK (permission BETWEEN 1 AND 4),  -- read, execute, write, all: each includes those before it
    granted_by text NOT NULL,
    granted_at timestamptz NOT NULL,
    PRIMARY KEY (batch_id, user_id)
);
CREATE INDEX batch_grant_user_idx ON weft.batch_grant (user_id, batch_id);
ALTER TABLE weft.batch_grant ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.batch_grant TO weft_tenant;
GRANT SELECT, DELETE ON weft.batch_grant TO weft_system;
CREATE POLICY tenant_rows ON weft.batch_grant TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.batch_grant TO weft_system USING (true);
-- A page of what a user may see is a union of their own batches, those of their projects, and granted ones, each in order.
CREATE INDEX batch_user_idx ON weft.batch (user_id, batch_id);
CREATE INDEX batch_project_idx ON weft.batch (project_id, batch_id);
CREATE INDEX billing_member_user_idx ON weft.billing_member (user_id, project_id);
-- Members see the batches of their projects, but for deleted ones.
DELETE FROM weft.billing_member m USING weft.billing_project p WHERE p.project_id = m.project_id AND p.deleted_at IS NOT NULL;
