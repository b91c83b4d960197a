-- Batches of which a job has waited for a condition since it began: who sees one of them sees the condition (ADR 83). Rows are added where
-- jobs join, which have the condition's row; whether a job still waits is asked where they are read.
CREATE TABLE weft.condition_batch (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    condition_id bigint NOT NULL REFERENCES weft.condition ON DELETE CASCADE,
    tenant_id int NOT NULL,
    owner_id int NOT NULL,  -- of the batch
    project_id int NOT NULL,  -- the same
    PRIMARY KEY (batch_id, condition_id)
);
CREATE INDEX condition_batch_owner_idx ON weft.condition_batch (owner_id, condition_id);
CREATE INDEX condition_batch_project_idx ON weft.condition_batch (project_id, condition_id);
CREATE INDEX condition_batch_condition_idx ON weft.condition_batch (condition_id);
ALTER TABLE weft.condition_batch ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON weft.condition_batch TO weft_tenant;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.condition_batch TO weft_system;
CREATE POLICY tenant_rows ON weft.condition_batch TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.condition_batch TO weft_system USING (true);
