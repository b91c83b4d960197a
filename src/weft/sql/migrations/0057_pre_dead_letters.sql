-- Dead letters: jobs that failed for good, each with its cause, and how many there are for each cause.
CREATE TABLE weft.dead_letter (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    cause_id bigint NOT NULL,  -- digest of reason, exit code, signal and text
    failed_at timestamptz NOT NULL,
    acknowledged boolean NOT NULL DEFAULT false,  -- then it is not listed any more
    PRIMARY KEY (batch_id, job_id)
);
CREATE INDEX dead_letter_cause_idx ON weft.dead_letter (batch_id, acknowledged, cause_id, job_id);
CREATE TABLE weft.failure_cause (
    batch_id bigint NOT NULL,
    cause_id bigint NOT NULL,
    tenant_id int NOT NULL,
    reason smallint,  -- NULL, as failed_at: only decreases are folded yet
    exit_code int,
    signal smallint,
    message text,  -- without what differs from job to job; NULL: nothing is known
    n_jobs bigint NOT NULL,
    n_acknowledged bigint NOT NULL,  -- of n_jobs
    failed_at timestamptz,  -- the last one
    PRIMARY KEY (batch_id, cause_id)
);
CREATE INDEX failure_cause_tenant_id_idx ON weft.failure_cause (tenant_id, batch_id);
-- What the sums of failure_cause do not contain yet. Nobody changes a row; the driver adds them up and deletes them.
CREATE TABLE weft.failure_delta (
    batch_id bigint NOT NULL,
    cause_id bigint NOT NULL,
    tenant_id int NOT NULL,
    reason smallint,
    exit_code int,
    signal smallint,
    message text,
    n_jobs bigint NOT NULL,
    n_acknowledged bigint NOT NULL DEFAULT 0,
    failed_at timestamptz
);
CREATE INDEX failure_delta_batch_id_idx ON weft.failure_delta (batch_id);
DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['dead_letter', 'failure_cause', 'failure_delta'] LOOP
        EXECUTE format('ALTER TABLE weft.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON weft.%I TO weft_system', v_table);
        EXECUTE format('CREATE POLICY tenant_rows ON weft.%I TO weft_tenant'
            ' USING (tenant_id = (SELECT current_setting(''weft.tenant'')::int))', v_table);
        EXECUTE format('CREATE POLICY system_rows ON weft.%I TO weft_system USING (true)', v_table);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.dead_letter TO weft_tenant;
GRANT SELECT ON weft.failure_cause TO weft_tenant;
GRANT SELECT, INSERT ON weft.failure_delta TO weft_tenant;
