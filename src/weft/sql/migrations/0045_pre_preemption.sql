-- Attempts that are stopped so that a job of a queue of higher priority can start (weft.core.preemption).
CREATE TABLE weft.preemption (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    attempt smallint NOT NULL,
    tenant_id int NOT NULL,
    at timestamptz NOT NULL,
    for_batch_id bigint NOT NULL,               -- the job that waits
    for_job_id int NOT NULL,
    for_attempt smallint NOT NULL,              -- its attempts so far: it causes no other before it has started
    PRIMARY KEY (batch_id, job_id, attempt)
);
CREATE INDEX preemption_for_idx ON weft.preemption (for_batch_id, for_job_id);
ALTER TABLE weft.preemption ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON weft.preemption TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.preemption TO weft_system USING (true);
GRANT SELECT ON weft.preemption TO weft_tenant;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.preemption TO weft_system;
