-- Quotas of running cores for which the driver gives their gates to jobs that were there before (ADR 69). Rows as in quota, while that
-- limits cores.
CREATE TABLE weft.core_sweep (
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    -- hide: the ranges of ready jobs, so that no later job starts before those that wait already; gate: the jobs get their gates;
    -- show: the quota went before it had reached all jobs, and ranges that are still hidden are shown.
    pass text NOT NULL DEFAULT 'hide' CHECK (pass IN ('hide', 'gate', 'show')),
    next_batch bigint NOT NULL DEFAULT 0,
    last_job int NOT NULL DEFAULT 0,  -- of next_batch: all jobs up to this one have their gates
    stepped_at timestamptz NOT NULL DEFAULT clock_timestamp(),  -- gates go first, but not for longer than a second
    done_at timestamptz,  -- NULL: some jobs may have no gates yet
    PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX core_sweep_open_idx ON weft.core_sweep (tenant_id, user_id) WHERE done_at IS NULL;
ALTER TABLE weft.core_sweep ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.core_sweep TO weft_tenant, weft_system;
CREATE POLICY tenant_rows ON weft.core_sweep TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.core_sweep TO weft_system USING (true);
-- Quotas of before, too: they hold for jobs that are older than they from now on.
INSERT INTO weft.core_sweep (tenant_id, user_id)
SELECT q.tenant_id, q.user_id FROM weft.quota q WHERE q.cores_max_m IS NOT NULL;
