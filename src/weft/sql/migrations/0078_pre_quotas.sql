-- How much the users of a tenant may have submitted at a time. user_id: 0 for each user, as far as a row of their own says nothing; -1 for
-- all users together, which administrators of the site set. NULL: no limit.
CREATE TABLE weft.quota (
    tenant_id int NOT NULL REFERENCES weft.tenant,
    user_id int NOT NULL CHECK (user_id >= -1),
    jobs_max bigint CONSTRAINT quota_of_jobs CHECK (jobs_max >= 0),  -- that have not ended
    batches_max bigint CONSTRAINT quota_of_batches CHECK (batches_max >= 0),  -- that have such jobs
    PRIMARY KEY (tenant_id, user_id)
);
ALTER TABLE weft.quota ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.quota TO weft_tenant, weft_system;
CREATE POLICY tenant_rows ON weft.quota TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.quota TO weft_system USING (true);
