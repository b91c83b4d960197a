-- Jobs: what they ask for, the states that they go through, and whom they wait for.

-- Lanes: what a job asks of a worker beside cpu and memory, interned. Numbers are amounts, which a job takes
-- while it runs; words must be offered. A worker serves the lanes that it can ever serve; what is free now is
-- a budget of the claim.
CREATE TABLE weft.lane (
    lane_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asks jsonb NOT NULL UNIQUE,
    amounts jsonb NOT NULL,  -- the numbers among them
    -- Jobs of other queues ask for the queue and for one of its pools (ADR 28). NULL: the pool of the queue
    -- of the batch.
    pool_id int REFERENCES weft.pool
);
CREATE INDEX lane_machine_idx ON weft.lane (lane_id) WHERE asks ? 'machine';
INSERT INTO weft.lane (lane_id, asks, amounts) OVERRIDING SYSTEM VALUE
VALUES (0, '{"executor": "process"}', '{}');

-- A distinct request for resources. Jobs refer to it, so that claims, loads and usage are sums over few
-- shapes.
CREATE TABLE weft.shape (
    shape_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cpu_m bigint NOT NULL CHECK (cpu_m > 0),
    memory_mib bigint NOT NULL CHECK (memory_mib >= 0),
    storage_mib bigint NOT NULL CHECK (storage_mib >= 0),
    gpu int NOT NULL CHECK (gpu >= 0),
    countables jsonb NOT NULL DEFAULT '{}',
    lane_id int REFERENCES weft.lane,
    UNIQUE (cpu_m, memory_mib, storage_mib, gpu, countables)
);
GRANT SELECT ON weft.shape TO weft_api, weft_driver;

-- The state machine as data; a trigger of weft.job enforces it.
CREATE TABLE weft.job_state (
    state smallint PRIMARY KEY,
    word text NOT NULL UNIQUE
);
INSERT INTO weft.job_state
VALUES
    (0, 'pending'), (1, 'ready'), (2, 'queued'), (3, 'creating'), (4, 'running'), (5, 'blocked'),
    (6, 'success'), (7, 'failed'), (8, 'error'), (9, 'cancelled');

CREATE TABLE weft.attempt_reason (
    reason smallint PRIMARY KEY,
    word text NOT NULL UNIQUE
);
INSERT INTO weft.attempt_reason
VALUES
    (1, 'exit'), (2, 'signal'), (3, 'timeout'), (4, 'oom'), (5, 'disk'), (6, 'no_program'), (7, 'no_image'),
    (8, 'bad_spec'), (9, 'cancelled'), (10, 'preempted'), (11, 'lost'), (12, 'log_limit'), (13, 'system'),
    (14, 'deadline'), (15, 'blocked'), (16, 'overdue'), (17, 'files');

CREATE TABLE weft.job_transition (
    from_state smallint NOT NULL REFERENCES weft.job_state,
    to_state smallint NOT NULL REFERENCES weft.job_state,
    PRIMARY KEY (from_state, to_state)
);
INSERT INTO weft.job_transition
VALUES
    (0, 1), (0, 8), (0, 9), (1, 2), (1, 3), (1, 4), (1, 6), (1, 8), (1, 9), (2, 1), (2, 4), (2, 5), (2, 8),
    (2, 9), (3, 1), (3, 4), (3, 8), (3, 9), (4, 6), (4, 7), (4, 8), (4, 9), (4, 5), (4, 1), (5, 1), (5, 7),
    (5, 8), (5, 9), (7, 0), (7, 1), (8, 0), (8, 1), (9, 0), (9, 1);

-- The hot row of a job. No column that changes is indexed and pages are filled half, so a change of state is
-- a HOT update: no index is touched (ADR 0007). What never changes after submission and is not needed to
-- decide stands elsewhere. Large tables are vacuumed at leisure, at a quarter of a core: at full speed
-- autovacuum takes half of what two cores can do. The small ones, of claims, deltas and sums, whose dead rows
-- every call meets, go by the settings of the server. A job is changed twice soon after it came, which makes
-- void whatever vacuum wrote down about its page, and what its changes leave behind is removed by the next
-- access (no index is touched, ADR 0007). So it is vacuumed for rows that were deleted, not for those that
-- came or changed.
CREATE TABLE weft.job (
    batch_id bigint NOT NULL,
    ready_at timestamptz,  -- NULL: with the commit of its update, or not yet
    claimed_at timestamptz,  -- of the live attempt
    started_at timestamptz,  -- of the live attempt; NULL: a lease
    cancelled_at timestamptz,  -- ended without an attempt
    billed_ms bigint NOT NULL DEFAULT 0,  -- usage of the live attempt that heartbeats have rolled up
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    update_id int NOT NULL,
    group_id int NOT NULL,
    shape_id int NOT NULL,
    cpu_m int NOT NULL,  -- of its shape, so that a claim need not look it up
    memory_mib int NOT NULL,  -- of its shape
    spec_first int NOT NULL,  -- first job of the chunk that holds its spec
    n_unfinished int NOT NULL DEFAULT 0,  -- parents that have not ended
    incarnation_id int,  -- who runs the live attempt
    retry_on int NOT NULL DEFAULT 0,  -- bit mask over reasons
    state smallint NOT NULL,  -- guarded by the trigger job_transition_is_legal
    phase smallint,  -- of the live attempt
    attempt smallint NOT NULL DEFAULT 0,  -- number of the last attempt
    -- attempts that do not count against max_attempts: lost, preempted, handed back
    n_uncounted smallint NOT NULL DEFAULT 0,
    n_lost smallint NOT NULL DEFAULT 0,  -- of these, the ones that had started
    max_attempts smallint NOT NULL DEFAULT 1,
    priority smallint NOT NULL DEFAULT 0,
    rate_card_id smallint,  -- of the live attempt
    -- when ready it stands in ready_job, else within the range of its runnable row
    listed boolean NOT NULL DEFAULT false,
    -- waits for its update's commit and has parents in earlier updates
    staged boolean NOT NULL DEFAULT false,
    bad_parent boolean NOT NULL DEFAULT false,  -- a parent did not succeed
    always_run boolean NOT NULL DEFAULT false,
    asks_more boolean NOT NULL DEFAULT false,  -- its shape asks for more than cpu and memory
    crowded boolean NOT NULL DEFAULT false,  -- it had more than 1,000 parents that had not ended
    tells_start boolean NOT NULL DEFAULT false,  -- an update added children that wait only for its start
    lane_id int NOT NULL DEFAULT 0,  -- of its shape, so that a claim need not look it up
    gate_set_id int,  -- its own, beside those of its batch; NULL: none
    lifecycle_id int,  -- of its batch, once it is committed; NULL: it has no status
    PRIMARY KEY (batch_id, job_id)
) WITH (
    fillfactor = 45,
    autovacuum_vacuum_insert_threshold = -1,
    autovacuum_vacuum_threshold = 200000,
    autovacuum_vacuum_scale_factor = 0.2,
    autovacuum_analyze_scale_factor = 0.1,
    autovacuum_vacuum_cost_delay = 2,
    autovacuum_vacuum_cost_limit = 1000
);
COMMENT ON COLUMN weft.job.retry_on IS 'bits by reason; bit 0: its retries wait as its field `retry` says';

CREATE FUNCTION weft._refuse_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'job b%.j% cannot go from % to %',
        NEW.batch_id,
        NEW.job_id,
        (SELECT word FROM weft.job_state WHERE state = OLD.state),
        (SELECT word FROM weft.job_state WHERE state = NEW.state)
        USING ERRCODE = 'WF900',
        DETAIL = 'The table weft.job_transition does not hold this transition.',
        HINT = 'This is a defect of weft; nothing was changed.';
END $$;

-- One bit mask of allowed next states per state, as weft.job_transition holds them. So a legal change costs
-- one array access (0.1 microseconds) and calls no function; the test of states compares trigger, table and
-- weft.core.states.
CREATE TRIGGER job_transition_is_legal AFTER UPDATE OF state ON weft.job FOR EACH ROW WHEN (
    old.state <> new.state
        AND (('{770,860,818,786,994,898,0,3,3,3}'::int[])[old.state + 1] >> new.state) & 1 = 0
) EXECUTE FUNCTION weft._refuse_transition();
ROWS_OF_QUERIES weft.job;

-- Names and attributes, only of jobs that have some.
CREATE TABLE weft.job_label (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    name text CHECK (length(name) <= 1024),
    attributes jsonb,
    rare_fields jsonb,  -- that few jobs have, as sent
    PRIMARY KEY (batch_id, job_id)
);
CREATE INDEX job_label_name_idx ON weft.job_label (batch_id, name, job_id) WHERE name IS NOT NULL;
ROWS_OF_QUERIES weft.job_label;

-- The service that has a name, and so runs at most once. It has it until a later one of the name is
-- submitted, which is refused before it has ended.
CREATE TABLE weft.service (
    tenant_id int NOT NULL,
    name text NOT NULL,
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    PRIMARY KEY (tenant_id, name)
);
CREATE INDEX service_job_idx ON weft.service (batch_id, job_id);

-- The specs of consecutive jobs, compressed (weft.wire.spec).
CREATE TABLE weft.job_spec (
    batch_id bigint NOT NULL,
    first_job int NOT NULL,
    tenant_id int NOT NULL,
    n_jobs int NOT NULL CHECK (n_jobs > 0),
    body bytea NOT NULL,
    PRIMARY KEY (batch_id, first_job)
) WITH (autovacuum_vacuum_cost_delay = 2, autovacuum_vacuum_cost_limit = 1000);
ALTER TABLE weft.job_spec ALTER COLUMN body SET STORAGE EXTERNAL;  -- compressed already

-- An array, or the part of one that came in one bunch: the jobs from first_job on. Its chunk in weft.job_spec
-- begins with the same job, so weft.job.spec_first leads here. A name or attributes of one job's own stand in
-- weft.job_label and go before these.
CREATE TABLE weft.job_array (
    batch_id bigint NOT NULL,
    first_job int NOT NULL,
    tenant_id int NOT NULL,
    n_jobs int NOT NULL CHECK (n_jobs > 0),
    first_index int NOT NULL CHECK (first_index >= 0),  -- what the first of them knows as WEFT_INDEX
    name text CHECK (length(name) <= 1024),
    attributes jsonb,
    rare_fields jsonb,
    PRIMARY KEY (batch_id, first_job)
);
CREATE INDEX job_array_name_idx ON weft.job_array (batch_id, name, first_job) WHERE name IS NOT NULL;
ROWS_OF_QUERIES weft.job_array;

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
-- Queries for failures find jobs that ended late without an attempt.
CREATE INDEX job_change_error_idx ON weft.job_change (batch_id, job_id) WHERE to_state = 8;
CREATE POLICY query_rows ON weft.job_change FOR SELECT TO weft_api, weft_driver
    USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
-- Queries read which jobs ended late or without their machine, and nothing else of the changes.
GRANT SELECT (change_id, batch_id, job_id, tenant_id, to_state, subtype) ON weft.job_change TO weft_api,
    weft_driver;

-- Parents that jobs wait for.
CREATE TABLE weft.edge (
    batch_id bigint NOT NULL,
    parent_id int NOT NULL,
    child_id int NOT NULL,
    tenant_id int NOT NULL,
    -- of core/states.py: what is enough, and whether it was told; NULL: the parent must succeed; -95: 95 % of
    -- those
    need smallint,
    PRIMARY KEY (batch_id, parent_id, child_id),
    CONSTRAINT parent_below_child CHECK (parent_id < child_id)
) WITH (autovacuum_vacuum_cost_delay = 2, autovacuum_vacuum_cost_limit = 1000);
CREATE INDEX edge_child_idx ON weft.edge (batch_id, child_id, parent_id);
CREATE INDEX edge_start_idx ON weft.edge (batch_id, parent_id) WHERE need = 2;
CREATE INDEX edge_share_idx ON weft.edge (batch_id, child_id, parent_id) WHERE need < 0;

-- Parents of a job of which a share must succeed, all edges with one need: they count as one in its
-- n_unfinished until that is decided.
-- Changed by whoever has the child's row; what is told after it began may count parents twice that ran again.
CREATE TABLE weft.parent_share (
    batch_id bigint NOT NULL,
    child_id int NOT NULL,
    need smallint NOT NULL,
    tenant_id int NOT NULL,
    n_jobs int NOT NULL,
    n_needed int NOT NULL,
    n_succeeded int NOT NULL,
    n_failed int NOT NULL,
    first_parent int NOT NULL,
    last_parent int NOT NULL,
    PRIMARY KEY (batch_id, child_id, need)
);

-- Ends of parents of a crowded child that are still to be subtracted from its n_unfinished: added by every
-- report, so that no report waits for another one at the child's row (ADR 14).
CREATE TABLE weft.parent_end (
    batch_id bigint NOT NULL,
    child_id int NOT NULL,
    tenant_id int NOT NULL,
    n int NOT NULL,
    bad boolean NOT NULL,  -- one of them did not succeed
    -- When they ended: a child is dated after the latest of them, also if the clock was set back meanwhile.
    at timestamptz
);
CREATE INDEX parent_end_child_idx ON weft.parent_end (batch_id, child_id);

-- Jobs that ended elsewhere than in complete_attempts, or with many children: their children are told in
-- bounded sets.
CREATE TABLE weft.cascade (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    next_child int NOT NULL DEFAULT 0,
    PRIMARY KEY (batch_id, job_id)
);

-- Which jobs of that batch became which: n_jobs jobs from from_job on became those from first_job on.
CREATE TABLE weft.resubmitted_span (
    batch_id bigint NOT NULL,  -- the new one
    from_job int NOT NULL,
    n_jobs int NOT NULL CHECK (n_jobs > 0),
    first_job int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, from_job)
);
