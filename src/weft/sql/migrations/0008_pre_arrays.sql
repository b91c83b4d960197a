-- Arrays: many jobs made from one template.

-- An array, or the part of one that came in one bunch: the jobs from first_job on. Its chunk in weft.job_spec begins with the same
-- job, so weft.job.spec_first leads here. A name or attributes of one job's own stand in weft.job_label and go before these.
CREATE TABLE weft.job_array (
    batch_id bigint NOT NULL,
    first_job int NOT NULL,
    tenant_id int NOT NULL,
    n_jobs int NOT NULL CHECK (n_jobs > 0),
    first_index int NOT NULL CHECK (first_index >= 0),         -- what the first of them knows as WEFT_INDEX
    name text CHECK (length(name) <= 1024),
    attributes jsonb,
    PRIMARY KEY (batch_id, first_job)
);
ALTER TABLE weft.job_array ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON weft.job_array TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.job_array TO weft_system USING (true);
