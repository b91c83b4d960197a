-- Conditions (ADR 43): what blocked jobs wait for together, tested once for all of them.
CREATE TABLE weft.condition (
    condition_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL,
    kind text NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    tester text NOT NULL CHECK (length(tester) BETWEEN 1 AND 64),
    parameters jsonb NOT NULL,
    digest text NOT NULL,  -- of tester and parameters
    since timestamptz NOT NULL,
    next_test_at timestamptz NOT NULL,
    tested_at timestamptz,
    passed boolean,  -- the last test
    message text,  -- what it said
    n_jobs bigint NOT NULL DEFAULT 0,  -- without the deltas that are not folded yet
    allowance int NOT NULL DEFAULT 10 CHECK (allowance > 0),  -- how many jobs go after the next test that passes
    n_going bigint NOT NULL DEFAULT 0 CHECK (n_going >= 0),  -- how many the driver has still to let go
    rising boolean NOT NULL DEFAULT false,  -- the last test passed, and no job has come since
    found_out_ms int NOT NULL DEFAULT 0,  -- how long attempts ran at most until they met it
    failed_by text,  -- who has given it up: the driver ends its jobs
    UNIQUE (tenant_id, digest)
);
CREATE INDEX condition_page_idx ON weft.condition (tenant_id, condition_id);
CREATE INDEX condition_next_test_at_idx ON weft.condition (next_test_at);
CREATE INDEX condition_going_idx ON weft.condition (condition_id) WHERE n_going > 0;
CREATE INDEX condition_failed_idx ON weft.condition (condition_id) WHERE failed_by IS NOT NULL;
ALTER TABLE weft.condition ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE ON weft.condition TO weft_tenant;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.condition TO weft_system;
CREATE POLICY tenant_rows ON weft.condition TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.condition TO weft_system USING (true);
-- Jobs that came to a condition or left it: a cancel does not wait for its row.
CREATE TABLE weft.condition_delta (
    condition_id bigint NOT NULL,
    tenant_id int NOT NULL,
    n int NOT NULL
);
CREATE INDEX condition_delta_condition_id_idx ON weft.condition_delta (condition_id);
ALTER TABLE weft.condition_delta ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON weft.condition_delta TO weft_tenant;
GRANT SELECT, INSERT, DELETE ON weft.condition_delta TO weft_system;
CREATE POLICY tenant_rows ON weft.condition_delta TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.condition_delta TO weft_system USING (true);
-- The date of a job at a condition is its own, but it goes when a test passes.
ALTER TABLE weft.blocked_job ADD COLUMN condition_id bigint REFERENCES weft.condition,
    ADD COLUMN n_tests int NOT NULL DEFAULT 0;  -- that did not pass while it waited and was due
CREATE INDEX blocked_job_own_date_idx ON weft.blocked_job (next_at) WHERE condition_id IS NULL;
CREATE INDEX blocked_job_condition_idx ON weft.blocked_job (condition_id, next_at) WHERE condition_id IS NOT NULL;
-- What an attempt asks to wait for, noted just before its end is reported, and used by that.
CREATE TABLE weft.block_request (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    job_id int NOT NULL,
    attempt smallint NOT NULL,
    tenant_id int NOT NULL,
    kind text NOT NULL,
    tester text NOT NULL,
    parameters jsonb NOT NULL,
    PRIMARY KEY (batch_id, job_id)
);
ALTER TABLE weft.block_request ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.block_request TO weft_system;
CREATE POLICY system_rows ON weft.block_request TO weft_system USING (true);
CREATE POLICY tenant_rows ON weft.block_request TO weft_tenant
    USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
