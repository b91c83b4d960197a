-- Batches that are being deleted: gone for everybody at once, and removed in bounded steps.
ALTER TABLE weft.batch
    ADD COLUMN deleted_at timestamptz,                    -- NULL: it is there
    ADD COLUMN removing boolean NOT NULL DEFAULT false;   -- all has ended and is billed: rows go, and nothing derived from them holds any more

-- The language reads the table itself.
ALTER POLICY query_rows ON weft.batch USING (tenant_id = (SELECT current_setting('weft.tenant')::int) AND deleted_at IS NULL);

-- What the attempts of removed batches have used: with the attempts that are there it explains weft.project_usage to the millisecond.
CREATE TABLE weft.removed_usage (
    project_id int NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id int NOT NULL,
    tenant_id int NOT NULL,
    usage_ms bigint NOT NULL,
    PRIMARY KEY (project_id, rate_card_id, shape_id)
);
ALTER TABLE weft.removed_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON weft.removed_usage TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.removed_usage TO weft_system USING (true);
