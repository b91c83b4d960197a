-- How many jobs are in which state: sums, and the deltas that are not in them yet.

-- Deltas visible in `upto` are in the sums.
CREATE TABLE weft.fold (
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    upto pg_snapshot NOT NULL
) WITH (fillfactor = 10);
GRANT SELECT ON weft.fold TO weft_api, weft_driver;
INSERT INTO weft.fold (upto) VALUES (pg_current_snapshot());

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
    complete boolean NOT NULL DEFAULT false,  -- as of the last fold
    last_ended_at timestamptz,  -- NULL: none of its jobs has ended
    PRIMARY KEY (batch_id, group_id)
) WITH (fillfactor = 50);
CREATE INDEX group_count_open_idx ON weft.group_count (tenant_id, batch_id)
    WHERE group_id = 0 AND NOT complete;
ROWS_OF_QUERIES weft.group_count;

-- Counters and usage: deltas are added by every transaction and folded into the sums by the driver (ADR
-- 0006).
CREATE TABLE weft.job_delta (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    batch_id bigint NOT NULL,
    -- milliseconds that attempts of this shape ran, at this card's prices
    usage_ms bigint NOT NULL DEFAULT 0,
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
    rate_card_id smallint,
    -- A group is complete when the last of its jobs has ended, not when a fold finds that out: deltas carry
    -- the latest end that they count.
    last_ended_at timestamptz,  -- NULL: it counts no end
    stored_bytes bigint NOT NULL DEFAULT 0
);
CREATE INDEX job_delta_xid_idx ON weft.job_delta (xid);
ROWS_OF_QUERIES weft.job_delta;

-- How many jobs that have not ended there are in each state, by owner and billing project: what pages show of
-- a tenant, or of all batches that somebody sees, is read from few rows. Folded with the counters.
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

-- What changed in each minute of the last hour: by the owners of batches, and, as user 0, for all of a
-- tenant. Folded with the counters; minutes in which nothing changed have no row. n_waiting, n_running: by
-- how much more; the rest: jobs that ended so.
CREATE TABLE weft.user_minute (
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    minute timestamptz NOT NULL,
    n_waiting bigint NOT NULL,
    n_running bigint NOT NULL,
    n_succeeded bigint NOT NULL,
    n_failed bigint NOT NULL,  -- failed, or ended by an error
    n_cancelled bigint NOT NULL,
    PRIMARY KEY (tenant_id, user_id, minute)
) WITH (fillfactor = 50);
CREATE INDEX user_minute_minute_idx ON weft.user_minute (minute);

-- Quotas of running cores for which the driver gives their gates to jobs that were there already (ADR 20).
-- Rows as in quota, while that limits cores.
CREATE TABLE weft.core_sweep (
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    -- hide: the ranges of ready jobs, so that no later job starts before those that wait already; gate: the
    -- jobs get their gates; show: the quota went before it had reached all jobs, and ranges that are still
    -- hidden are shown.
    pass text NOT NULL DEFAULT 'hide' CHECK (pass IN ('hide', 'gate', 'show')),
    next_batch bigint NOT NULL DEFAULT 0,
    last_job int NOT NULL DEFAULT 0,  -- of next_batch: all jobs up to this one have their gates
    -- gates go first, but not for longer than a second
    stepped_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at timestamptz,  -- NULL: some jobs may have no gates yet
    PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX core_sweep_open_idx ON weft.core_sweep (tenant_id, user_id) WHERE done_at IS NULL;
