-- Batches, updates, groups and jobs. Static rows first, then the few hot ones.
CREATE TABLE weft.batch (
    batch_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    user_id int NOT NULL REFERENCES weft.tenant_user,
    project_id int NOT NULL REFERENCES weft.billing_project,
    queue_id int NOT NULL REFERENCES weft.queue,
    name text CHECK (length(name) <= 1024),
    attributes jsonb NOT NULL DEFAULT '{}',
    callback text,
    cancel_after_n_failures int CHECK (cancel_after_n_failures > 0),
    max_running int CHECK (max_running > 0),
    trace_id text NOT NULL,
    created_at timestamptz NOT NULL,
    idempotency_key text,
    digest bytea,
    held boolean NOT NULL DEFAULT false,
    has_edges boolean NOT NULL DEFAULT false,  -- some job has a parent; else completions need not look for children
    next_update int NOT NULL DEFAULT 1,
    next_job int NOT NULL DEFAULT 1,
    next_group int NOT NULL DEFAULT 1
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX batch_idempotency_key_idx ON weft.batch (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX batch_tenant_idx ON weft.batch (tenant_id, batch_id);
CREATE INDEX batch_name_idx ON weft.batch (tenant_id, name, batch_id) WHERE name IS NOT NULL;

-- One submission of jobs: reserves contiguous numbers, is filled in bunches, then committed. Until then it does not exist for readers.
CREATE TABLE weft.batch_update (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    update_id int NOT NULL,
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    first_job int NOT NULL,
    n_jobs int NOT NULL CHECK (n_jobs >= 0),
    first_group int NOT NULL,
    n_groups int NOT NULL CHECK (n_groups >= 0),
    idempotency_key text,
    digest bytea,
    trace_id text NOT NULL,
    created_at timestamptz NOT NULL,
    committed_at timestamptz,                  -- NULL: open
    PRIMARY KEY (batch_id, update_id)
);
CREATE UNIQUE INDEX batch_update_idempotency_key_idx ON weft.batch_update (batch_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX batch_update_first_job_idx ON weft.batch_update (batch_id, first_job);
CREATE INDEX batch_update_open_idx ON weft.batch_update (created_at) WHERE committed_at IS NULL;

CREATE TABLE weft.job_group (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    tenant_id int NOT NULL,
    parent_id int,                             -- NULL: the root
    update_id int,                             -- NULL: the root, which comes with the batch
    name text NOT NULL,
    path text NOT NULL,
    depth smallint NOT NULL,
    attributes jsonb NOT NULL DEFAULT '{}',
    callback text,
    cancel_after_n_failures int CHECK (cancel_after_n_failures > 0),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (batch_id, group_id)
);
CREATE UNIQUE INDEX job_group_path_idx ON weft.job_group (batch_id, path);

-- Every group with each of its ancestors, itself included.
CREATE TABLE weft.group_ancestor (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    ancestor_id int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, group_id, ancestor_id)
);

-- A distinct request for resources. Jobs refer to it, so that claims, loads and usage are sums over few shapes.
CREATE TABLE weft.shape (
    shape_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cpu_m bigint NOT NULL CHECK (cpu_m > 0),
    memory_mib bigint NOT NULL CHECK (memory_mib >= 0),
    storage_mib bigint NOT NULL CHECK (storage_mib >= 0),
    gpu int NOT NULL CHECK (gpu >= 0),
    countables jsonb NOT NULL DEFAULT '{}',
    UNIQUE (cpu_m, memory_mib, storage_mib, gpu, countables)
);

-- The hot row of a job. No column that changes is indexed and pages are filled half, so a change of state is a HOT
-- update: no index is touched (ADR 0007). What never changes after submission and is not needed to decide stands elsewhere.
CREATE TABLE weft.job (
    batch_id bigint NOT NULL,
    ready_at timestamptz,          -- NULL: with the commit of its update, or not yet
    claimed_at timestamptz,        -- of the live attempt
    started_at timestamptz,        -- of the live attempt; NULL: a lease
    cancelled_at timestamptz,      -- ended without an attempt
    billed_ms bigint NOT NULL DEFAULT 0,       -- usage of the live attempt that heartbeats have rolled up
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    update_id int NOT NULL,
    group_id int NOT NULL,
    shape_id int NOT NULL,
    cpu_m int NOT NULL,            -- of its shape, so that a claim need not look it up
    memory_mib int NOT NULL,       -- of its shape
    spec_first int NOT NULL,       -- first job of the chunk that holds its spec
    n_unfinished int NOT NULL DEFAULT 0,       -- parents that have not ended
    incarnation_id int,            -- who runs the live attempt
    retry_on int NOT NULL DEFAULT 0,           -- bit mask over reasons
    state smallint NOT NULL,       -- guarded by the trigger job_transition_is_legal
    phase smallint,                -- of the live attempt
    attempt smallint NOT NULL DEFAULT 0,       -- number of the last attempt
    n_uncounted smallint NOT NULL DEFAULT 0,   -- attempts that do not count against max_attempts: lost, preempted, handed back
    n_lost smallint NOT NULL DEFAULT 0,        -- of these, the ones that had started
    max_attempts smallint NOT NULL DEFAULT 1,
    priority smallint NOT NULL DEFAULT 0,
    rate_card_id smallint,         -- of the live attempt
    listed boolean NOT NULL DEFAULT false,     -- when ready it stands in ready_job, else within the range of its runnable row
    staged boolean NOT NULL DEFAULT false,     -- waits for its update's commit and has parents in earlier updates
    bad_parent boolean NOT NULL DEFAULT false, -- a parent did not succeed
    always_run boolean NOT NULL DEFAULT false,
    asks_more boolean NOT NULL DEFAULT false,  -- its shape asks for more than cpu and memory
    PRIMARY KEY (batch_id, job_id)
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05);

-- Names and attributes, only of jobs that have some.
CREATE TABLE weft.job_label (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    name text CHECK (length(name) <= 1024),
    attributes jsonb,
    PRIMARY KEY (batch_id, job_id)
);

-- The specs of consecutive jobs, compressed (weft.wire.spec).
CREATE TABLE weft.job_spec (
    batch_id bigint NOT NULL,
    first_job int NOT NULL,
    tenant_id int NOT NULL,
    n_jobs int NOT NULL CHECK (n_jobs > 0),
    body bytea NOT NULL,
    PRIMARY KEY (batch_id, first_job)
);
ALTER TABLE weft.job_spec ALTER COLUMN body SET STORAGE EXTERNAL;  -- compressed already

CREATE TABLE weft.edge (
    batch_id bigint NOT NULL,
    parent_id int NOT NULL,
    child_id int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, parent_id, child_id),
    CONSTRAINT parent_below_child CHECK (parent_id < child_id)
);
CREATE INDEX edge_child_idx ON weft.edge (batch_id, child_id, parent_id);

-- Which jobs of an update have arrived, and what they will add to the counters when it is committed.
CREATE TABLE weft.bunch (
    batch_id bigint NOT NULL,
    update_id int NOT NULL,
    first_job int NOT NULL,
    n_jobs int NOT NULL,
    tenant_id int NOT NULL,
    n_ranged int NOT NULL,         -- ready with the commit, found by range
    n_listed int NOT NULL,         -- ready with the commit, put into ready_job
    has_cross boolean NOT NULL,    -- some have parents in earlier updates
    idempotency_key text,          -- of the request that brought it; NULL: it had none
    digest bytea,                  -- of that request; NULL: it had no key
    PRIMARY KEY (batch_id, update_id, first_job)
);
CREATE UNIQUE INDEX bunch_idempotency_key_idx ON weft.bunch (batch_id, update_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE TABLE weft.bunch_count (
    batch_id bigint NOT NULL,
    update_id int NOT NULL,
    first_job int NOT NULL,
    group_id int NOT NULL,
    shape_id int NOT NULL,
    tenant_id int NOT NULL,
    n_pending int NOT NULL,
    n_ready int NOT NULL,
    PRIMARY KEY (batch_id, update_id, first_job, group_id, shape_id)
);

-- Attempts that have ended. A live one stands in its job's row.
-- No CHECK on the two hot tables: PostgreSQL parses each again for every statement, a fifth of a call for 20 jobs (docs/performance.md);
-- the audit looks at what they would have refused.
CREATE TABLE weft.attempt (
    batch_id bigint NOT NULL,
    claimed_at timestamptz NOT NULL,
    started_at timestamptz,        -- NULL: it never ran
    ended_at timestamptz NOT NULL,
    cpu_ms bigint NOT NULL,
    memory_peak_bytes bigint NOT NULL,
    stdout_bytes bigint NOT NULL,
    stderr_bytes bigint NOT NULL,
    log_offset bigint,             -- within its segment
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    incarnation_id int NOT NULL,
    shape_id int NOT NULL,
    exit_code int,
    log_segment int,               -- NULL: a file of its own, if it wrote anything
    attempt smallint NOT NULL,
    state smallint NOT NULL,       -- of the job after it
    reason smallint,               -- NULL: success
    signal smallint,
    rate_card_id smallint NOT NULL,
    truncated boolean NOT NULL,
    message text,
    PRIMARY KEY (batch_id, job_id, attempt)
);

-- Changes of state that no other row dates: retries, holds, and who cancelled a single job.
CREATE TABLE weft.job_change (
    change_id bigint GENERATED ALWAYS AS IDENTITY,
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    at timestamptz NOT NULL,
    from_state smallint NOT NULL,
    to_state smallint NOT NULL,
    attempt smallint,
    actor text NOT NULL,
    subtype text,
    message text,
    PRIMARY KEY (batch_id, job_id, change_id)
);
