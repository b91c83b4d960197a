-- Ready jobs as they are offered to workers, and the shares of users.

-- What the steps of a claim hand to each other. Types, not tables: nothing of them is stored.

-- Ready work that
-- a claim looks at next – listed jobs of one user, rank and batch, or one range – and at the same time the
-- position from which the next one is found.
CREATE TYPE weft.offer AS (
    pass int,  -- 1: of users with shares; 2: of all
    load double precision,  -- of the user
    user_id int,  -- 0: before the first user
    tenant_id int,
    rank smallint,  -- minus priority; 0 of a range
    batch_id bigint,  -- NULL: nothing is left
    first_job int,  -- of the range; 0: listed jobs
    last_job int,  -- of the range
    low_job int,  -- low mark of the range, or the first of the listed jobs
    runnable_id bigint,  -- 0: listed jobs
    lane_id int,
    share_m bigint,  -- what is left of the user's share
    share_jobs int,  -- about how many jobs it was
    left_by int[]  -- the users so far who had less work than their share; NULL: none
);

-- Jobs that a claim has locked, in the order in which they are served.
CREATE TYPE weft.picked AS (
    job_ids int[],  -- NULL: none
    tids tid[],
    queue_tids tid[],  -- of their rows in ready_job; NULL: they stand in a range
    cpus_m int[],
    memories_mib int[],
    cpu_m bigint,  -- sums
    memory_mib bigint
);

-- The users that a claim serves first, in order: the mCPU that each and those before it may get, and about
-- how many jobs its own part is.
CREATE TYPE weft.shares AS (user_ids int[], upto_m bigint[], jobs int[]);

-- A range of job numbers of one committed update. Its ready jobs that are not `listed` are found by walking
-- the primary key of weft.job from low_job on. low_job is safe: everything below it has left the range for
-- good; what becomes ready again is listed.
CREATE TABLE weft.runnable (
    runnable_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pool_id int NOT NULL,
    user_id int NOT NULL,
    tenant_id int NOT NULL,
    batch_id bigint NOT NULL,
    update_id int NOT NULL,
    first_job int NOT NULL,
    last_job int NOT NULL,
    low_job int NOT NULL,
    lane_id int NOT NULL DEFAULT 0,  -- of all jobs that it holds; other jobs among them are listed
    gate_set_id int NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE INDEX runnable_batch_idx ON weft.runnable (batch_id);
CREATE UNIQUE INDEX runnable_order_idx ON weft.runnable (gate_set_id, pool_id, user_id, batch_id, first_job);
CREATE UNIQUE INDEX runnable_offer_idx ON weft.runnable (pool_id, user_id, lane_id, batch_id, first_job)
    WHERE gate_set_id = 0;
ROWS_OF_QUERIES weft.runnable;

-- Ready jobs one by one: those that waited for parents, have a priority of their own, or are ready again.
CREATE TABLE weft.ready_job (
    pool_id int NOT NULL,
    user_id int NOT NULL,
    rank smallint NOT NULL,  -- minus priority: the smallest is served first
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    lane_id int NOT NULL DEFAULT 0,
    gate_set_id int NOT NULL DEFAULT 0,
    PRIMARY KEY (gate_set_id, pool_id, user_id, rank, batch_id, job_id)
);
CREATE UNIQUE INDEX ready_job_batch_idx ON weft.ready_job (batch_id, job_id);
CREATE UNIQUE INDEX ready_job_offer_idx ON weft.ready_job (pool_id, user_id, lane_id, rank, batch_id, job_id)
    WHERE gate_set_id = 0;
ROWS_OF_QUERIES weft.ready_job;

-- Jobs that became ready while they were held, for the sweep to park.
CREATE TABLE weft.held_ready (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, job_id)
);

CREATE TABLE weft.worker_lane (
    incarnation_id int NOT NULL REFERENCES weft.worker_incarnation ON DELETE CASCADE,
    lane_id int NOT NULL REFERENCES weft.lane,
    PRIMARY KEY (incarnation_id, lane_id)
);

-- Fair share. `active` is exact in one direction: who has ready work that no note in held_ready names is
-- active.
CREATE TABLE weft.user_share (
    pool_id int NOT NULL,
    user_id int NOT NULL,
    tenant_id int NOT NULL,
    active boolean NOT NULL,
    weight double precision NOT NULL,
    running_m bigint NOT NULL DEFAULT 0,  -- claimed mCPU, folded
    n_ready bigint NOT NULL DEFAULT 0,  -- folded
    load double precision NOT NULL DEFAULT 0,  -- running_m / weight
    -- What each user's ready jobs ask for: a claim shares its cpu among users by load and by this.
    ready_m bigint DEFAULT 0 NOT NULL,
    PRIMARY KEY (pool_id, user_id)
) WITH (fillfactor = 50);
CREATE INDEX user_share_order_idx ON weft.user_share (pool_id, load, user_id) WHERE active;
-- Pages of who uses a pool: those with ready work stand in user_share_order_idx; here are those who only run
-- jobs.
CREATE INDEX user_share_running_idx ON weft.user_share (pool_id, user_id) WHERE NOT active AND running_m > 0;
CREATE INDEX user_share_tenant_idx ON weft.user_share (pool_id, tenant_id, load, user_id) WHERE active;
CREATE INDEX user_share_tenant_running_idx ON weft.user_share (pool_id, tenant_id, user_id)
    WHERE NOT active AND running_m > 0;

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

-- Workers that are kept for large jobs which wait long (ADR 37): the next claim of the worker is of this job.
CREATE TABLE weft.reservation (
    incarnation_id int PRIMARY KEY REFERENCES weft.worker_incarnation ON DELETE CASCADE,
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    user_id int NOT NULL,
    reserved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Until when a kept worker may run other jobs without delaying the one that it is kept for (ADR 39).
    -- NULL: nobody knows, it runs none.
    fill_until timestamptz,
    UNIQUE (batch_id, job_id)
);
ROWS_OF_SYSTEM weft.reservation;

-- Attempts that are stopped so that a job of a queue of higher priority can start
-- (weft.core.scheduling.preemption).
CREATE TABLE weft.preemption (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    attempt smallint NOT NULL,
    tenant_id int NOT NULL,
    at timestamptz NOT NULL,
    for_batch_id bigint,  -- the job that waits; NULL: for a limit
    for_job_id int,
    for_attempt smallint,  -- its attempts so far: it causes no other before it has started
    PRIMARY KEY (batch_id, job_id, attempt)
);
CREATE INDEX preemption_for_idx ON weft.preemption (for_batch_id, for_job_id);
