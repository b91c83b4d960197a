-- Batches, and the updates that bring their jobs.

-- What a submission hands over, grouped: calls pass these on as one value. Their attributes never change,
-- because programs that are connected keep the form that they saw first; a new field of a job travels in
-- rare_fields.
CREATE TYPE weft.group_columns AS (
    group_ids int[],
    parent_ids int[],
    names text[],
    attributes jsonb[],
    cancel_afters int[],
    callbacks text[],
    are_sets boolean[]
);

CREATE TYPE weft.job_columns AS (
    shape_cpu_ms bigint[], shape_memory_mibs bigint[], shape_storage_mibs bigint[], shape_gpus int[],
    shape_countables jsonb[], shape_indexes int[], group_ids int[], priorities smallint[],
    always_runs boolean[], max_attempts smallint[], retry_ons int[], edge_children int[], edge_parents int[],
    edge_parent_ns int[], combo_indexes int[], combo_numbers int[], combo_sets int[], entry_ns int[],
    array_firsts int[], array_ns int[], array_indexes int[], array_names text[], array_attributes jsonb[],
    label_jobs int[], label_names text[], label_attributes jsonb[], rare_jobs int[], rare_fields jsonb[],
    chunk_firsts int[], chunk_ns int[], chunk_bodies bytea[],
    output_keep_s bigint  -- how long all of these jobs let output be kept, the longest; NULL: not all say it
);

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
    -- some job has a parent; else completions need not look for children
    has_edges boolean NOT NULL DEFAULT false,
    next_update int NOT NULL DEFAULT 1,
    next_job int NOT NULL DEFAULT 1,
    next_group int NOT NULL DEFAULT 1,
    deleted_at timestamptz,  -- gone for everybody at once, and removed in bounded steps; NULL: it is there
    -- all has ended and is billed: rows go, and nothing derived from them holds any more
    removing boolean NOT NULL DEFAULT false,
    gate_set_id int NOT NULL DEFAULT 0,  -- of all its jobs
    gated boolean NOT NULL DEFAULT false,  -- it, or a job of it, has gates
    hidden boolean NOT NULL DEFAULT false,  -- lists leave it out
    resubmitted_from bigint,  -- the batch from which it was made; NULL: from a submission
    -- Whether all that is stored for the batch is in the sums: only of batches that were made by a function
    -- that counts it.
    bytes_counted boolean NOT NULL DEFAULT false,
    door text CHECK (length(door) <= 32),  -- through which it came; NULL: none
    -- the trace id of the door's client, beside trace_id; NULL: the door keeps none
    foreign_trace text CHECK (length(foreign_trace) <= 100),
    -- the id that the door's clients know, of its first job: the door makes one batch of each; NULL: it has
    -- none
    foreign_id text CHECK (length(foreign_id) <= 64),
    -- what its first job is in the words of the door, which the door reads again; NULL: the door keeps
    -- nothing
    foreign_document jsonb CHECK (length(foreign_document::text) <= 262144),
    -- what the door's clients search its jobs by, beside names: exactly this; NULL: nothing
    foreign_kind text CHECK (length(foreign_kind) <= 1024),
    lifecycle_id int,  -- its jobs have statuses; NULL: none
    sink_id int,  -- told of each job that ends well; NULL: nobody is
    more_sinks int[],  -- told beside it; NULL: none is
    -- an attempt of it named products; else ends need not look for them
    has_products boolean NOT NULL DEFAULT false,
    -- of its user: the newest batch of a key has it (ADR 171)
    unique_key text CHECK (length(unique_key) <= 255),
    -- from then on its key is kept for another submission's within_s; NULL: from its creation on
    extended_at timestamptz,
    replaces bigint  -- the batch that had the key, and was cancelled for this one; NULL: none
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX batch_idempotency_key_idx ON weft.batch (user_id, idempotency_key) WHERE idempotency_key
    IS NOT NULL;
CREATE INDEX batch_foreign_idx ON weft.batch (tenant_id, door, foreign_id) WHERE foreign_id IS NOT NULL;
-- Lists of the jobs of a door, the newest first, as those of batches below.
CREATE INDEX batch_door_idx ON weft.batch (tenant_id, door, batch_id) WHERE foreign_id IS NOT NULL;
CREATE INDEX batch_user_door_idx ON weft.batch (user_id, door, batch_id) WHERE foreign_id IS NOT NULL;
CREATE INDEX batch_lifecycle_idx ON weft.batch (tenant_id, batch_id) WHERE lifecycle_id IS NOT NULL;
CREATE INDEX batch_foreign_kind_idx ON weft.batch (user_id, foreign_kind, batch_id) WHERE foreign_kind
    IS NOT NULL;
-- Those that lists leave out, which are few: they are taken from what is counted with them.
CREATE INDEX batch_foreign_unlisted_idx ON weft.batch (tenant_id, door, user_id) WHERE foreign_id
    IS NOT NULL AND (hidden OR deleted_at IS NOT NULL);
CREATE INDEX batch_sink_idx ON weft.batch (sink_id) WHERE sink_id IS NOT NULL;
CREATE INDEX batch_more_sinks_idx ON weft.batch (tenant_id) WHERE more_sinks IS NOT NULL;
CREATE INDEX batch_unique_key_idx ON weft.batch (user_id, unique_key, batch_id) WHERE unique_key IS NOT NULL;
CREATE INDEX batch_tenant_idx ON weft.batch (tenant_id, batch_id);
CREATE INDEX batch_name_idx ON weft.batch (tenant_id, name, batch_id) WHERE name IS NOT NULL;
-- A page of what a user may see is a union of their own batches, those of their projects, and granted ones,
-- each in order.
CREATE INDEX batch_user_idx ON weft.batch (user_id, batch_id);
CREATE INDEX batch_project_idx ON weft.batch (project_id, batch_id);
-- Lists of batches in the order of their creation, and of their completion. That of names has an index
-- already.
CREATE INDEX batch_created_idx ON weft.batch (tenant_id, created_at, batch_id);
-- The same for pages of batches in the order of their names, or in that of their creation.
CREATE INDEX batch_user_name_idx ON weft.batch (user_id, name, batch_id) WHERE name IS NOT NULL;
CREATE INDEX batch_project_name_idx ON weft.batch (project_id, name, batch_id) WHERE name IS NOT NULL;
CREATE INDEX batch_user_created_idx ON weft.batch (user_id, created_at, batch_id);
CREATE INDEX batch_project_created_idx ON weft.batch (project_id, created_at, batch_id);
CREATE POLICY query_rows ON weft.batch FOR SELECT TO weft_api, weft_driver
    USING (tenant_id = (SELECT current_setting('weft.tenant')::int) AND deleted_at IS NULL);
GRANT SELECT ON weft.batch TO weft_api, weft_driver;

-- Requests that made no batch, because this one had their key: a repeat gets the same answer.
CREATE TABLE weft.skipped_batch (
    user_id int NOT NULL,
    idempotency_key text NOT NULL,
    tenant_id int NOT NULL,
    digest bytea,
    batch_id bigint NOT NULL,
    PRIMARY KEY (user_id, idempotency_key)
);
CREATE INDEX skipped_batch_batch_idx ON weft.skipped_batch (batch_id);

-- One submission of jobs: reserves contiguous numbers, is filled in bunches, then committed. Until then it
-- does not exist for readers.
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
    committed_at timestamptz,  -- NULL: open
    PRIMARY KEY (batch_id, update_id)
);
CREATE UNIQUE INDEX batch_update_idempotency_key_idx ON weft.batch_update (batch_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX batch_update_first_job_idx ON weft.batch_update (batch_id, first_job);
CREATE INDEX batch_update_open_idx ON weft.batch_update (created_at) WHERE committed_at IS NULL;
ROWS_OF_QUERIES weft.batch_update;

-- What users may do with batches that are neither their own nor of a billing project of theirs.
CREATE TABLE weft.batch_grant (
    batch_id bigint NOT NULL,
    user_id int NOT NULL REFERENCES weft.tenant_user,
    tenant_id int NOT NULL,
    -- read, execute, write, all: each includes those before it
    permission smallint NOT NULL CHECK (permission BETWEEN 1 AND 4),
    granted_by text NOT NULL,
    granted_at timestamptz NOT NULL,
    job_id int NOT NULL DEFAULT 0,  -- 0: the whole batch
    PRIMARY KEY (batch_id, job_id, user_id)
);
-- A page of batches reads grants of batches alone, however many single jobs were granted.
CREATE INDEX batch_grant_user_idx ON weft.batch_grant (user_id, batch_id) WHERE job_id = 0;
CREATE INDEX batch_grant_job_idx ON weft.batch_grant (user_id, batch_id, job_id) WHERE job_id > 0;

-- Large arguments of functions, in parts. All parts of a payload but the last have the same size
-- (weft.wire.payload). A payload is found by its SHA-256, so what many jobs of a batch take is stored once;
-- it goes with its batch.
CREATE TABLE weft.batch_payload (
    batch_id bigint NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    part int NOT NULL CHECK (part > 0),
    tenant_id int NOT NULL,
    n_bytes bigint NOT NULL CHECK (n_bytes > 0),  -- of the whole payload
    body bytea NOT NULL,
    PRIMARY KEY (batch_id, digest, part)
);
-- Compressing it would cost more than writing it.
ALTER TABLE weft.batch_payload ALTER COLUMN body SET STORAGE EXTERNAL;

-- By batch, until it is removed; and by the owners of batches, with user 0 for all of a tenant. Folded with
-- the counters.
CREATE TABLE weft.batch_storage (
    batch_id bigint PRIMARY KEY,
    tenant_id int NOT NULL,
    n_bytes bigint NOT NULL
) WITH (fillfactor = 50);

-- Batches that were made without jobs, until an update with jobs is committed, or for as long as an update
-- may stay uncommitted.
CREATE TABLE weft.empty_batch (
    batch_id bigint PRIMARY KEY,
    tenant_id int NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX empty_batch_tenant_idx ON weft.empty_batch (tenant_id);
CREATE INDEX empty_batch_created_idx ON weft.empty_batch (created_at);

-- Which jobs of an update have arrived, and what they will add to the counters when it is committed.
CREATE TABLE weft.bunch (
    batch_id bigint NOT NULL,
    update_id int NOT NULL,
    first_job int NOT NULL,
    n_jobs int NOT NULL,
    tenant_id int NOT NULL,
    n_ranged int NOT NULL,  -- ready with the commit, found by range
    n_listed int NOT NULL,  -- ready with the commit, put into ready_job
    has_cross boolean NOT NULL,  -- some have parents in earlier updates
    idempotency_key text,  -- of the request that brought it; NULL: it had none
    digest bytea,  -- of that request; NULL: it had no key
    -- Where neighbours of one lane begin in a bunch, and their lanes; jobs of other lanes among them are
    -- listed. NULL: its jobs are all of lane 0.
    lane_firsts int[],
    lane_ids int[],
    -- What quotas of stored bytes and of batches did not count: specs that were sent and not committed, and
    -- batches without jobs (ADR 85). How much the specs of the bunch take, counted when it was added; NULL:
    -- they count when its update is committed.
    n_bytes bigint,
    PRIMARY KEY (batch_id, update_id, first_job)
);
CREATE UNIQUE INDEX bunch_idempotency_key_idx ON weft.bunch (batch_id, update_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
ROWS_OF_QUERIES weft.bunch;

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
-- Where the jobs of a tree group or a membership are: a bunch says it for those that came with it, this table
-- for those that were added to a set later. Jobs of other groups may be among them.
CREATE INDEX bunch_count_group_idx ON weft.bunch_count (batch_id, group_id, first_job);
ROWS_OF_QUERIES weft.bunch_count;

-- Which idempotency keys brought groups to an update, and with which body (weft.bunch does it for jobs).
CREATE TABLE weft.group_bunch (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    update_id int NOT NULL,
    idempotency_key text NOT NULL,
    tenant_id int NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (batch_id, update_id, idempotency_key)
);
