-- What quotas of stored bytes and of batches did not count: specs that were sent and not committed, and batches without jobs (ADR 85).
-- How much the specs of the bunch take, counted when it was added; NULL: they count when its update is committed.
ALTER TABLE weft.bunch ADD COLUMN n_bytes bigint;
-- Batches that were made without jobs, until an update with jobs is committed, or for as long as an update may stay uncommitted.
CREATE TABLE weft.empty_batch (
    batch_id bigint PRIMARY KEY,
    tenant_id int NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX empty_batch_tenant_idx ON weft.empty_batch (tenant_id);
CREATE INDEX empty_batch_created_idx ON weft.empty_batch (created_at);
ALTER TABLE weft.empty_batch ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON weft.empty_batch TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.empty_batch TO weft_system USING (true);
