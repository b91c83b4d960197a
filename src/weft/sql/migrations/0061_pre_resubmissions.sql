-- The batch from which a batch was made; NULL: from a submission.
ALTER TABLE weft.batch ADD COLUMN resubmitted_from bigint;
-- Which jobs of that batch became which: n_jobs jobs from from_job on became those from first_job on.
CREATE TABLE weft.resubmitted_span (
    batch_id bigint NOT NULL,  -- the new one
    from_job int NOT NULL,
    n_jobs int NOT NULL CHECK (n_jobs > 0),
    first_job int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, from_job)
);
ALTER TABLE weft.resubmitted_span ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.resubmitted_span TO weft_system;
CREATE POLICY tenant_rows ON weft.resubmitted_span TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.resubmitted_span TO weft_system USING (true);
