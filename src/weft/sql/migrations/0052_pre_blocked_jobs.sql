-- Blocked jobs (ADR 42): each waits for a date of its own. Whoever changes a row has the job's row.
INSERT INTO weft.attempt_reason (reason, word) VALUES (15, 'blocked');
CREATE TABLE weft.blocked_job (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    blocked_at timestamptz NOT NULL,
    next_at timestamptz NOT NULL,  -- when it is ready again
    PRIMARY KEY (batch_id, job_id)
);
CREATE INDEX blocked_job_next_at_idx ON weft.blocked_job (next_at);
ALTER TABLE weft.blocked_job ENABLE ROW LEVEL SECURITY;
GRANT SELECT, DELETE ON weft.blocked_job TO weft_tenant;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.blocked_job TO weft_system;
CREATE POLICY tenant_rows ON weft.blocked_job TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.blocked_job TO weft_system USING (true);
COMMENT ON COLUMN weft.job.retry_on IS 'bits by reason; bit 0: its retries wait as its field `retry` says';
