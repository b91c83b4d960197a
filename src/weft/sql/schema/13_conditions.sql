-- Deadlines, and jobs that wait for a date or a condition.

-- Deadlines: waiting jobs end as errors as soon as they could not end in time, running ones at the date.
-- One row for a job, or for all jobs of an array.
CREATE TABLE weft.job_deadline (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    first_job int NOT NULL,
    last_job int NOT NULL,
    tenant_id int NOT NULL,
    latest_start timestamptz NOT NULL,  -- the deadline minus the time limit of the jobs
    deadline timestamptz NOT NULL,
    due_at timestamptz,  -- when the driver has to look at them; NULL: not committed, or never again
    sweep_job int NOT NULL,  -- it has looked at them up to this one
    -- Of a job that waits for a person, an event or a date: how it ends at its date. NULL: it is none.
    succeeds boolean,
    timeout interval,  -- the date comes so long after its parents have ended; until then it is infinite
    PRIMARY KEY (batch_id, first_job)
);
CREATE INDEX job_deadline_due_at_idx ON weft.job_deadline (due_at) WHERE due_at IS NOT NULL;

-- Jobs that became ready when they were late; the driver ends them.
CREATE TABLE weft.late_job (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, job_id)
);

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
    -- how many jobs go after the next test that passes
    allowance int NOT NULL DEFAULT 10 CHECK (allowance > 0),
    n_going bigint NOT NULL DEFAULT 0 CHECK (n_going >= 0),  -- how many the driver has still to let go
    rising boolean NOT NULL DEFAULT false,  -- the last test passed, and no job has come since
    found_out_ms int NOT NULL DEFAULT 0,  -- how long attempts ran at most until they met it
    failed_by text,  -- who has given it up: the driver ends its jobs
    -- The one that is away: then no job is blocked on it, its batches have ready or offered jobs. The driver
    -- looks instead of a test, and puts off the date: at it the condition is over. NULL: it is tested, for
    -- jobs that are blocked on it.
    transport text,
    UNIQUE (tenant_id, digest)
);
CREATE INDEX condition_page_idx ON weft.condition (tenant_id, condition_id);
CREATE INDEX condition_next_test_at_idx ON weft.condition (tenant_id, next_test_at);
CREATE INDEX condition_going_idx ON weft.condition (condition_id) WHERE n_going > 0;
CREATE INDEX condition_failed_idx ON weft.condition (condition_id) WHERE failed_by IS NOT NULL;

-- Jobs that came to a condition or left it: a cancel does not wait for its row.
CREATE TABLE weft.condition_delta (
    condition_id bigint NOT NULL,
    tenant_id int NOT NULL,
    n int NOT NULL
);
CREATE INDEX condition_delta_condition_id_idx ON weft.condition_delta (condition_id);

-- Batches of which a job has waited for a condition since it began: who sees one of them sees the condition
-- (ADR 83). Rows are added where jobs join, which have the condition's row; whether a job still waits is
-- asked where they are read.
CREATE TABLE weft.condition_batch (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    condition_id bigint NOT NULL REFERENCES weft.condition ON DELETE CASCADE,
    tenant_id int NOT NULL,
    owner_id int NOT NULL,  -- of the batch
    project_id int NOT NULL,  -- the same
    -- jobs that wait for a transport, 1,000 at most; else blocked_job says it
    n_waiting int NOT NULL DEFAULT 0,
    PRIMARY KEY (batch_id, condition_id)
);
CREATE INDEX condition_batch_owner_idx ON weft.condition_batch (owner_id, condition_id);
CREATE INDEX condition_batch_project_idx ON weft.condition_batch (project_id, condition_id);
-- A condition that is over loses those of the oldest batches first.
CREATE INDEX condition_batch_oldest_idx ON weft.condition_batch (condition_id, batch_id);

-- Blocked jobs (ADR 42): each waits for a date of its own. Whoever changes a row has the job's row.
CREATE TABLE weft.blocked_job (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    blocked_at timestamptz NOT NULL,
    next_at timestamptz NOT NULL,  -- when it is ready again
    -- The date of a job at a condition is its own, but it goes when a test passes.
    condition_id bigint REFERENCES weft.condition,
    n_tests int NOT NULL DEFAULT 0,  -- that did not pass while it waited and was due
    PRIMARY KEY (batch_id, job_id)
);
CREATE INDEX blocked_job_own_date_idx ON weft.blocked_job (next_at) WHERE condition_id IS NULL;
CREATE INDEX blocked_job_condition_idx ON weft.blocked_job (condition_id, next_at) WHERE condition_id
    IS NOT NULL;

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
