-- How many jobs that have not ended there are in each state, by owner and billing project: what pages show of a tenant, or of all batches
-- that somebody sees, is read from few rows. Folded with the counters.
CREATE TABLE weft.user_count (
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    project_id int NOT NULL,
    n_pending bigint NOT NULL,
    n_ready bigint NOT NULL,
    n_queued bigint NOT NULL,
    n_creating bigint NOT NULL,
    n_running bigint NOT NULL,
    n_blocked bigint NOT NULL,
    PRIMARY KEY (tenant_id, user_id, project_id)
) WITH (fillfactor = 50);
ALTER TABLE weft.user_count ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.user_count TO weft_system;
CREATE POLICY tenant_rows ON weft.user_count TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.user_count TO weft_system USING (true);
INSERT INTO weft.user_count
SELECT b.tenant_id, b.user_id, b.project_id, sum(c.n_pending), sum(c.n_ready), sum(c.n_queued), sum(c.n_creating), sum(c.n_running),
    sum(c.n_blocked)
FROM weft.group_count c JOIN weft.batch b ON b.batch_id = c.batch_id WHERE c.group_id = 0 AND NOT c.complete GROUP BY 1, 2, 3;
