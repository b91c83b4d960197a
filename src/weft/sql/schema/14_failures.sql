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
    owner_id int,
    project_id int,  -- of the batch
    PRIMARY KEY (batch_id, cause_id)
);
CREATE INDEX failure_cause_open_idx ON weft.failure_cause (tenant_id, batch_id) WHERE n_jobs > n_acknowledged;
-- Causes are written by folds, once for each batch however many of its jobs fail.
CREATE INDEX failure_cause_owner_idx ON weft.failure_cause (owner_id, batch_id) WHERE n_jobs > n_acknowledged;
CREATE INDEX failure_cause_project_idx ON weft.failure_cause (project_id, batch_id)
    WHERE n_jobs > n_acknowledged;
CREATE INDEX failure_cause_cause_idx ON weft.failure_cause (cause_id, tenant_id, batch_id);
CREATE INDEX failure_cause_reason_idx ON weft.failure_cause (reason, tenant_id, batch_id) WHERE reason
    IS NOT NULL;
-- Few are acknowledged.
CREATE INDEX failure_cause_seen_idx ON weft.failure_cause (tenant_id, batch_id) WHERE n_acknowledged > 0;
CREATE INDEX failure_cause_owner_seen_idx ON weft.failure_cause (owner_id, batch_id) WHERE n_acknowledged > 0;
CREATE INDEX failure_cause_project_seen_idx ON weft.failure_cause (project_id, batch_id)
    WHERE n_acknowledged > 0;
CREATE TRIGGER cause_begins BEFORE INSERT ON weft.failure_cause FOR EACH ROW
    EXECUTE FUNCTION weft._note_owner();

-- Failures of groups with cancel_after_n_failures, locked by the failing report.
CREATE TABLE weft.failure_count (
    batch_id bigint NOT NULL,
    group_id int NOT NULL,
    tenant_id int NOT NULL,
    n_failures int NOT NULL DEFAULT 0,
    n_failures_max int NOT NULL,
    -- When the cancel of a group by its limit of failures was lifted. Failures up to then no longer count.
    lifted_at timestamptz,
    PRIMARY KEY (batch_id, group_id)
) WITH (fillfactor = 50);

-- What the sums of failure_cause do not contain yet. Nobody changes a row; the driver adds them up and
-- deletes them.
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
