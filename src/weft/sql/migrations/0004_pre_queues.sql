-- Where ready jobs are, who is served next, who waits for what.

-- A range of job numbers of one committed update. Its ready jobs that are not `listed` are found by walking the primary key of
-- weft.job from low_job on. low_job is safe: everything below it has left the range for good; what becomes ready again is listed.
CREATE TABLE weft.runnable (
    runnable_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pool_id int NOT NULL,
    user_id int NOT NULL,
    tenant_id int NOT NULL,
    batch_id bigint NOT NULL,
    update_id int NOT NULL,
    first_job int NOT NULL,
    last_job int NOT NULL,
    low_job int NOT NULL
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX runnable_order_idx ON weft.runnable (pool_id, user_id, batch_id, first_job);
CREATE INDEX runnable_batch_idx ON weft.runnable (batch_id);

-- Ready jobs one by one: those that waited for parents, have a priority of their own, or are ready again.
CREATE TABLE weft.ready_job (
    pool_id int NOT NULL,
    user_id int NOT NULL,
    rank smallint NOT NULL,        -- minus priority: the smallest is served first
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (pool_id, user_id, rank, batch_id, job_id)
);
CREATE INDEX ready_job_batch_idx ON weft.ready_job (batch_id, job_id);

-- Fair share. `active` is exact in one direction: who has ready work is active.
CREATE TABLE weft.user_share (
    pool_id int NOT NULL,
    user_id int NOT NULL,
    tenant_id int NOT NULL,
    active boolean NOT NULL,
    weight int NOT NULL,
    running_m bigint NOT NULL DEFAULT 0,       -- claimed mCPU, folded
    n_ready bigint NOT NULL DEFAULT 0,         -- folded
    load double precision NOT NULL DEFAULT 0,  -- running_m / weight
    PRIMARY KEY (pool_id, user_id)
) WITH (fillfactor = 50);
CREATE INDEX user_share_order_idx ON weft.user_share (pool_id, load, user_id) WHERE active;

CREATE TABLE weft.user_batch_count (
    pool_id int NOT NULL,
    user_id int NOT NULL,
    batch_id bigint NOT NULL,
    tenant_id int NOT NULL,
    n_ready bigint NOT NULL,
    n_running bigint NOT NULL,
    ready_m bigint NOT NULL,
    running_m bigint NOT NULL,
    PRIMARY KEY (pool_id, user_id, batch_id)
) WITH (fillfactor = 50);
CREATE INDEX user_batch_count_batch_idx ON weft.user_batch_count (batch_id);

-- What each claim call took. A heartbeat replaces an incarnation's rows by one with what is still live, so a lost worker's
-- attempts are found without an index on the hot row.
CREATE TABLE weft.claim (
    incarnation_id int NOT NULL,
    claim_id bigint GENERATED ALWAYS AS IDENTITY,
    batch_id bigint NOT NULL,
    jobs int[] NOT NULL,
    PRIMARY KEY (incarnation_id, claim_id)
);
ALTER TABLE weft.claim ALTER COLUMN jobs SET STORAGE EXTERNAL;

CREATE TABLE weft.group_cancel (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    tenant_id int NOT NULL,
    cancelled_at timestamptz NOT NULL,
    actor text NOT NULL,
    force boolean NOT NULL,        -- also always_run jobs
    sweep_job int NOT NULL DEFAULT 0,          -- settled up to this job
    swept boolean NOT NULL DEFAULT false,
    PRIMARY KEY (batch_id, group_id)
);
CREATE INDEX group_cancel_unswept_idx ON weft.group_cancel (batch_id) WHERE NOT swept;

-- A single job whose worker has been told to stop it.
CREATE TABLE weft.job_cancel (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    cancelled_at timestamptz NOT NULL,
    actor text NOT NULL,
    PRIMARY KEY (batch_id, job_id)
);

-- Jobs that ended elsewhere than in complete_attempts, or with many children: their children are told in bounded sets.
CREATE TABLE weft.cascade (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    next_child int NOT NULL DEFAULT 0,
    PRIMARY KEY (batch_id, job_id)
);

-- Failures of groups with cancel_after_n_failures, locked by the failing report.
CREATE TABLE weft.failure_count (
    batch_id bigint NOT NULL,
    group_id int NOT NULL,
    tenant_id int NOT NULL,
    n_failures int NOT NULL DEFAULT 0,
    n_failures_max int NOT NULL,
    PRIMARY KEY (batch_id, group_id)
) WITH (fillfactor = 50);

-- Counters and usage: deltas are added by every transaction and folded into the sums by the driver (ADR 0006).
CREATE TABLE weft.job_delta (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    batch_id bigint NOT NULL,
    usage_ms bigint NOT NULL DEFAULT 0,        -- milliseconds that attempts of this shape ran, at this card's prices
    tenant_id int NOT NULL,
    group_id int NOT NULL,
    shape_id int NOT NULL,
    pool_id int NOT NULL,
    usage_on date,
    n_pending int NOT NULL DEFAULT 0,
    n_ready int NOT NULL DEFAULT 0,
    n_queued int NOT NULL DEFAULT 0,
    n_creating int NOT NULL DEFAULT 0,
    n_running int NOT NULL DEFAULT 0,
    n_blocked int NOT NULL DEFAULT 0,
    n_succeeded int NOT NULL DEFAULT 0,
    n_failed int NOT NULL DEFAULT 0,
    n_errored int NOT NULL DEFAULT 0,
    n_cancelled int NOT NULL DEFAULT 0,
    rate_card_id smallint
);
CREATE INDEX job_delta_xid_idx ON weft.job_delta (xid);

CREATE TABLE weft.group_count (
    batch_id bigint NOT NULL,
    group_id int NOT NULL,
    tenant_id int NOT NULL,
    n_pending bigint NOT NULL DEFAULT 0,
    n_ready bigint NOT NULL DEFAULT 0,
    n_queued bigint NOT NULL DEFAULT 0,
    n_creating bigint NOT NULL DEFAULT 0,
    n_running bigint NOT NULL DEFAULT 0,
    n_blocked bigint NOT NULL DEFAULT 0,
    n_succeeded bigint NOT NULL DEFAULT 0,
    n_failed bigint NOT NULL DEFAULT 0,
    n_errored bigint NOT NULL DEFAULT 0,
    n_cancelled bigint NOT NULL DEFAULT 0,
    n_completions int NOT NULL DEFAULT 0,
    complete boolean NOT NULL DEFAULT false,   -- as of the last fold
    PRIMARY KEY (batch_id, group_id)
) WITH (fillfactor = 50);
CREATE INDEX group_count_open_idx ON weft.group_count (tenant_id, batch_id) WHERE group_id = 0 AND NOT complete;

CREATE TABLE weft.group_usage (
    batch_id bigint NOT NULL,
    group_id int NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id int NOT NULL,
    tenant_id int NOT NULL,
    usage_ms bigint NOT NULL,
    PRIMARY KEY (batch_id, group_id, rate_card_id, shape_id)
) WITH (fillfactor = 50);

CREATE TABLE weft.project_usage (
    project_id int NOT NULL,
    usage_on date NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id int NOT NULL,
    tenant_id int NOT NULL,
    usage_ms bigint NOT NULL,
    PRIMARY KEY (project_id, usage_on, rate_card_id, shape_id)
) WITH (fillfactor = 50);

CREATE TABLE weft.group_completion (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    completion int NOT NULL,
    tenant_id int NOT NULL,
    completed_at timestamptz NOT NULL,
    PRIMARY KEY (batch_id, group_id, completion)
);

-- One row: deltas visible in `upto` are in the sums. The leader's term is fenced by `epoch`.
CREATE TABLE weft.driver_state (
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    epoch bigint NOT NULL DEFAULT 0,
    waiting boolean NOT NULL DEFAULT false     -- the leader waits for a notice on channel driver
) WITH (fillfactor = 10);
INSERT INTO weft.driver_state DEFAULT VALUES;
CREATE TABLE weft.fold (
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    upto pg_snapshot NOT NULL
) WITH (fillfactor = 10);
INSERT INTO weft.fold (upto) VALUES (pg_current_snapshot());

CREATE TABLE weft.event (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    event_id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL,
    batch_id bigint NOT NULL,
    tenant_id int NOT NULL,
    kind text NOT NULL,
    from_state smallint,
    to_state smallint,
    jobs int[] NOT NULL DEFAULT '{}',
    groups int[] NOT NULL DEFAULT '{}',
    trace_id text,
    PRIMARY KEY (xid, event_id)
);
ALTER TABLE weft.event ALTER COLUMN jobs SET STORAGE EXTERNAL;

CREATE TABLE weft.event_listener (
    listener_id uuid PRIMARY KEY,
    waiting boolean NOT NULL,
    seen_at timestamptz NOT NULL
) WITH (fillfactor = 10);
CREATE TABLE weft.event_floor (
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    xid xid8 NOT NULL,             -- events up to this position were removed
    event_id bigint NOT NULL
);
INSERT INTO weft.event_floor (xid, event_id) VALUES ('0', 0);
