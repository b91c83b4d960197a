-- Pools, the workers in them, and the machines that providers make for them.

CREATE TABLE weft.pool (
    pool_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 256),
    plan jsonb,  -- as an operator describes it, weft.core.pools.Pool; NULL: its workers come by themselves
    -- The tenant whose queues may use a pool; NULL: all tenants share it. It stays when the pool is described
    -- no more.
    serves_tenant_id int REFERENCES weft.tenant
);
CREATE INDEX pool_serves_idx ON weft.pool (serves_tenant_id, name);
GRANT SELECT ON weft.pool TO weft_api, weft_driver;
INSERT INTO weft.pool (name) VALUES ('default');

-- What was decided about a pool, and why.
CREATE TABLE weft.pool_change (
    pool_id int NOT NULL REFERENCES weft.pool ON DELETE CASCADE,
    change_id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL,
    kind text NOT NULL CHECK (kind IN ('apply', 'create', 'cordon', 'uncordon', 'delete', 'gone', 'fail')),
    machine text,
    reason text NOT NULL CHECK (length(reason) <= 1000),
    PRIMARY KEY (pool_id, change_id)
);
ROWS_OF_SYSTEM weft.pool_change;

-- What the machines of pools cost, and how much of them jobs used.
CREATE TABLE weft.pool_cost (
    pool_id int NOT NULL REFERENCES weft.pool ON DELETE CASCADE,
    spent_on date NOT NULL,  -- UTC
    flavour text NOT NULL,
    machine_us bigint NOT NULL,  -- how long its machines existed, in microseconds
    used_us double precision NOT NULL,  -- the part that jobs used
    cost numeric NOT NULL,
    used_cost numeric NOT NULL,
    PRIMARY KEY (pool_id, spent_on, flavour)
);
ROWS_OF_SYSTEM weft.pool_cost;

-- What jobs use of each pool: the sum of user_share.running_m.
CREATE TABLE weft.pool_load (
    pool_id int PRIMARY KEY,
    running_m bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE weft.worker (
    worker_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pool_id int NOT NULL REFERENCES weft.pool,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
    host text NOT NULL,
    -- What an operator says about a worker. It outlives the worker's processes; a claim reads the copy at the
    -- incarnation, whose row it needs anyway.
    cordoned_at timestamptz,  -- it gets no new job
    cordoned_by text CHECK (length(cordoned_by) <= 300),
    cordon_reason text CHECK (length(cordon_reason) <= 1000),
    draining boolean NOT NULL DEFAULT false,  -- cordoned, and its process ends when nothing runs
    deleted_at timestamptz,  -- its process ended in order; NULL although none lives: it was lost
    UNIQUE (pool_id, name),
    CONSTRAINT worker_draining_check CHECK (NOT draining OR cordoned_at IS NOT NULL)
);
-- Workers are listed page by page, each with its newest incarnation. Those that have ended in order may be
-- many more than the others.
CREATE INDEX worker_name_idx ON weft.worker (name, worker_id);
CREATE INDEX worker_there_idx ON weft.worker (name, worker_id) WHERE deleted_at IS NULL;
CREATE INDEX worker_set_aside_idx ON weft.worker (name, worker_id) WHERE cordon_reason
    IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX worker_of_pool_idx ON weft.worker (pool_id, name) WHERE deleted_at IS NULL;
CREATE INDEX worker_of_pool_aside_idx ON weft.worker (pool_id, name) WHERE cordon_reason
    IS NOT NULL AND deleted_at IS NULL;
GRANT SELECT ON weft.worker TO weft_api, weft_driver;

CREATE TABLE weft.worker_change (
    worker_id int NOT NULL REFERENCES weft.worker ON DELETE CASCADE,
    change_id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('active', 'cordoned', 'draining', 'lost', 'deleted')),
    actor text NOT NULL,
    reason text,
    PRIMARY KEY (worker_id, change_id)
);

-- One life of one worker's spawner: the fence of every attempt that it runs.
CREATE TABLE weft.worker_incarnation (
    incarnation_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    worker_id int NOT NULL REFERENCES weft.worker,
    pool_id int NOT NULL REFERENCES weft.pool,
    name text NOT NULL UNIQUE,
    version text NOT NULL,
    cpu_m bigint NOT NULL CHECK (cpu_m > 0),
    memory_mib bigint NOT NULL CHECK (memory_mib > 0),
    storage_mib bigint NOT NULL CHECK (storage_mib >= 0),
    gpu int NOT NULL CHECK (gpu >= 0),
    registered_at timestamptz NOT NULL,
    heartbeat_at timestamptz NOT NULL,
    waiting boolean NOT NULL DEFAULT false,  -- it waits for a notice on channel work
    takes boolean NOT NULL DEFAULT false,  -- submissions may claim for it while it waits (ADR 183)
    draining boolean NOT NULL DEFAULT false,
    ended_at timestamptz,  -- NULL: alive
    -- What the incarnation offers beside cpu and memory: amounts by name, and a word or a list of words.
    -- NULL: its storage and gpus and both executors (weft._offers).
    offers jsonb,
    -- Where a worker keeps the output of its jobs. NULL: it did not say.
    log_place text CHECK (length(log_place) <= 64),
    log_directory text CHECK (length(log_directory) <= 4096),
    cordoned boolean NOT NULL DEFAULT false,
    -- It may claim one job, although its worker is cordoned.
    trying boolean NOT NULL DEFAULT false,
    -- The token by which it is linked through the api (weft.token.token_id). NULL: it has a login of the
    -- database.
    token_id bigint,
    -- What it runs is elsewhere, in an engine, and outlives its host: its silence proves nothing, so that
    -- only a person gives it up.
    outlives boolean NOT NULL DEFAULT false,
    -- Nodes behind a gateway that it avoids, as attempts failed there at once: node, until, reason. NULL:
    -- none since it registered.
    avoided jsonb CHECK (jsonb_array_length(avoided) <= 100)
) WITH (fillfactor = 50);
CREATE INDEX worker_incarnation_alive_idx ON weft.worker_incarnation (pool_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX worker_incarnation_one_alive ON weft.worker_incarnation (worker_id) WHERE ended_at
    IS NULL;
CREATE INDEX worker_incarnation_newest_idx ON weft.worker_incarnation (worker_id, incarnation_id);

-- Questions to workers outside, which one api asks and another one may pass on, or hear the answer of. Nobody
-- misses them after a crash.
CREATE UNLOGGED TABLE weft.look (
    number text PRIMARY KEY CHECK (length(number) = 32),
    incarnation_id int NOT NULL,
    question text NOT NULL,
    answer bytea,  -- NULL: there is none yet, or the api that asked has heard it itself
    asked_at timestamptz NOT NULL
);
ROWS_OF_SYSTEM weft.look;

CREATE FUNCTION weft._count_worker() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_sign int := CASE WHEN NEW.ended_at IS NULL THEN 1 ELSE -1 END;
    v_cores int := v_sign * weft._has_cores(NEW)::int;
BEGIN
    INSERT INTO weft.worker_sum (pool_id, n_workers, cpu_m, memory_mib)
    VALUES (NEW.pool_id, v_cores, v_cores * NEW.cpu_m, v_cores * NEW.memory_mib);
    RETURN NULL;
END $$;

CREATE TRIGGER worker_begins AFTER INSERT ON weft.worker_incarnation FOR EACH ROW WHEN (NEW.ended_at IS NULL)
    EXECUTE FUNCTION weft._count_worker();
CREATE TRIGGER worker_ends AFTER UPDATE OF ended_at ON weft.worker_incarnation FOR EACH ROW
    WHEN ((OLD.ended_at IS NULL) <> (NEW.ended_at IS NULL)) EXECUTE FUNCTION weft._count_worker();
GRANT SELECT ON weft.worker_incarnation TO weft_api, weft_driver;

-- How many workers with cores live in each pool, and what they have: what a page shows of a fleet is read
-- from few rows.
-- Each incarnation adds a row when it begins and when it ends, without a lock, so that the rows of a pool
-- together are exact in every snapshot.
CREATE TABLE weft.worker_sum (
    pool_id int NOT NULL,
    n_workers bigint NOT NULL,
    cpu_m bigint NOT NULL,
    memory_mib bigint NOT NULL
);
CREATE INDEX worker_sum_pool_idx ON weft.worker_sum (pool_id);

-- Workers that the driver cordoned because attempts fail there at once, and their tries
-- (weft.core.scheduling.black_holes).
CREATE TABLE weft.black_hole (
    worker_id int PRIMARY KEY REFERENCES weft.worker ON DELETE CASCADE,
    n_tries int NOT NULL DEFAULT 0,  -- that failed
    try_at timestamptz NOT NULL,  -- the next one is due; it takes one job
    try_batch_id bigint,  -- the job that the worker took for the last try; NULL: none yet
    try_job_id int,
    try_attempt smallint,
    CONSTRAINT black_hole_job_check CHECK (
        (try_batch_id IS NULL) = (try_job_id IS NULL) AND (try_batch_id IS NULL) = (try_attempt IS NULL)
    )
);
ROWS_OF_SYSTEM weft.black_hole;

-- Machines that a provider makes for the pools (ADR 33).
CREATE TABLE weft.machine (
    machine_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pool_id int NOT NULL REFERENCES weft.pool,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 256),  -- at the provider, and of its worker
    provider text NOT NULL,
    provider_id text CHECK (length(provider_id) <= 1000),  -- what the provider calls it; NULL: not known yet
    flavour text NOT NULL,
    region text NOT NULL,  -- empty: the provider has none
    cpu_m bigint NOT NULL CHECK (cpu_m > 0),
    price_per_hour numeric NOT NULL CHECK (price_per_hour >= 0),
    pool_max int NOT NULL,  -- how many the pool might have when this one was made
    state text NOT NULL CHECK (state IN ('creating', 'active', 'cordoned', 'deleting', 'deleted')),
    reason text NOT NULL CHECK (length(reason) <= 1000),
    -- while creating: why the provider has not begun it; NULL: it has
    waits text CHECK (length(waits) BETWEEN 1 AND 1000),
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,  -- since when it has its state
    -- Since when it is known that the provider has it although nobody asked for it; NULL: weft had it made.
    strayed_at timestamptz,
    costs_from timestamptz,  -- until then its costs are in pool_cost; NULL: none are
    -- The part of it that jobs use since then.
    used_share double precision NOT NULL DEFAULT 0 CONSTRAINT machine_used_share_check
        CHECK (used_share BETWEEN 0 AND 1),
    -- What a machine was made from: if its flavour is described otherwise by now, it goes when nothing runs
    -- there.
    template text,  -- as weft._template; NULL: not known
    -- How long machines take to come: `weft why` estimates by it when the next one comes.
    came_at timestamptz,  -- when its worker registered first; NULL: it has not
    for_batch_id bigint,  -- the job that it is made for (ADR 40); NULL: for all
    for_job_id int,
    released_at timestamptz,  -- since when it is no longer that job's; its job may be removed later
    missed boolean NOT NULL DEFAULT false,  -- the job still waited for it at that time
    CONSTRAINT machine_dates_check CHECK (created_at <= changed_at),
    CONSTRAINT machine_job_check CHECK ((for_batch_id IS NULL) = (for_job_id IS NULL))
);
CREATE INDEX machine_came_idx ON weft.machine (pool_id, flavour, machine_id) WHERE came_at IS NOT NULL;
CREATE UNIQUE INDEX machine_job_idx ON weft.machine (for_batch_id, for_job_id) WHERE for_batch_id
    IS NOT NULL AND released_at IS NULL;
CREATE INDEX machine_jobs_idx ON weft.machine (for_batch_id, for_job_id) WHERE for_batch_id IS NOT NULL;
CREATE INDEX machine_page_idx ON weft.machine (pool_id, machine_id) WHERE state <> 'deleted';

CREATE FUNCTION weft._sum_machines() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_added weft.machine[];
    v_gone weft.machine[];
BEGIN
    IF TG_OP <> 'DELETE' THEN
        SELECT array_agg(ROW(t.*)::weft.machine) INTO v_added FROM new_rows t WHERE t.state <> 'deleted';
    END IF;
    IF TG_OP <> 'INSERT' THEN
        SELECT array_agg(ROW(t.*)::weft.machine) INTO v_gone FROM old_rows t WHERE t.state <> 'deleted';
    END IF;
    INSERT INTO weft.machine_sum
    SELECT
        y.pool_id, y.flavour, y.state, y.sums[1], y.sums[2], y.sums[3], y.sums[4], y.sums[5], y.sums[6],
        y.sums[7], y.sums[8]
    FROM (
        SELECT
            x.pool_id,
            x.flavour,
            x.state,
            ARRAY[
                sum(x.sign),
                sum(x.sign * x.us),
                sum(x.sign * x.price),
                sum(x.sign * x.price * x.us),
                sum(x.sign * x.share),
                sum(x.sign * x.share * x.us),
                sum(x.sign * x.share * x.price),
                sum(x.sign * x.share * x.price * x.us)
            ] AS sums
        FROM (
            SELECT
                m.pool_id,
                m.flavour,
                m.state,
                s.sign::numeric,
                extract(epoch FROM coalesce(m.costs_from, m.created_at)) * 1000000 AS us,
                m.price_per_hour AS price,
                m.used_share::numeric AS share
            FROM (VALUES (1, v_added), (-1, v_gone)) s (sign, machines)
            CROSS JOIN LATERAL unnest(s.machines) m
        ) x
        GROUP BY 1, 2, 3
    ) y
    WHERE y.sums <> '{0,0,0,0,0,0,0,0}';
    RETURN NULL;
END $$;

CREATE TRIGGER machines_begin AFTER INSERT ON weft.machine REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION weft._sum_machines();
CREATE TRIGGER machines_change AFTER UPDATE
    ON weft.machine REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION weft._sum_machines();
CREATE TRIGGER machines_go AFTER DELETE ON weft.machine REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
    EXECUTE FUNCTION weft._sum_machines();
ROWS_OF_SYSTEM weft.machine;

-- How many machines each pool has by flavour and state, and sums from which follows what they cost since
-- their costs were counted, at any moment: what pages show of pools is read from few rows. Each statement on
-- machines adds rows, without a lock, so that the rows of a pool together are exact in every snapshot.
CREATE TABLE weft.machine_sum (
    pool_id int NOT NULL,
    flavour text NOT NULL,
    state text NOT NULL,
    n bigint NOT NULL,
    -- the sum of microseconds since 1970 of the moments from which costs are not counted yet
    from_us numeric NOT NULL,
    price numeric NOT NULL,
    price_from numeric NOT NULL,  -- of products with from_us
    share numeric NOT NULL,  -- that jobs use
    share_from numeric NOT NULL,
    share_price numeric NOT NULL,
    share_price_from numeric NOT NULL
);
CREATE INDEX machine_sum_pool_idx ON weft.machine_sum (pool_id);
