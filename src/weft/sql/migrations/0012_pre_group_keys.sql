-- Which idempotency keys brought groups to an update, and with which body (weft.bunch does it for jobs).
CREATE TABLE weft.group_bunch (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    update_id int NOT NULL,
    idempotency_key text NOT NULL,
    tenant_id int NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (batch_id, update_id, idempotency_key)
);
ALTER TABLE weft.group_bunch ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON weft.group_bunch TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.group_bunch TO weft_system USING (true);
