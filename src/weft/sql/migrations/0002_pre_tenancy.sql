-- Who works, who pays, what it costs, and which machines there are.
CREATE TABLE weft.tenant (
    tenant_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 256)
);

CREATE TABLE weft.tenant_user (
    user_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
    is_admin boolean NOT NULL DEFAULT false,
    weight int NOT NULL DEFAULT 1 CHECK (weight > 0),
    UNIQUE (tenant_id, name)
);

CREATE TABLE weft.token (
    token_hash bytea PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    user_id int NOT NULL REFERENCES weft.tenant_user,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz            -- NULL: does not expire
);

CREATE TABLE weft.billing_project (
    project_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
    UNIQUE (tenant_id, name)
);

CREATE TABLE weft.billing_member (
    project_id int NOT NULL REFERENCES weft.billing_project,
    user_id int NOT NULL REFERENCES weft.tenant_user,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    PRIMARY KEY (project_id, user_id)
);

-- What is billed. Usage is kept as unit x milliseconds.
CREATE TABLE weft.resource (
    resource_id smallint PRIMARY KEY,
    name text NOT NULL UNIQUE,
    unit text NOT NULL
);
INSERT INTO weft.resource VALUES (1, 'cpu', 'mCPU*ms'), (2, 'memory', 'MiB*ms'), (3, 'storage', 'MiB*ms'), (4, 'gpu', 'gpu*ms');

-- All prices that hold from one moment on. A change of any price is a new card; an attempt keeps the card of its claim.
CREATE TABLE weft.rate_card (
    rate_card_id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    valid_from timestamptz NOT NULL UNIQUE
);
CREATE TABLE weft.rate (
    rate_card_id smallint NOT NULL REFERENCES weft.rate_card,
    resource_id smallint NOT NULL REFERENCES weft.resource,
    price_per_unit_hour numeric NOT NULL CHECK (price_per_unit_hour >= 0),
    PRIMARY KEY (rate_card_id, resource_id)
);
INSERT INTO weft.rate_card (valid_from) VALUES ('-infinity');
-- The defaults are of the order of a public cloud's: 0.01 a core hour, 0.001 a GiB hour, 0.0001 a GiB hour of disk, 0.5 a GPU hour.
INSERT INTO weft.rate VALUES (1, 1, 0.01 / 1000), (1, 2, 0.001 / 1024), (1, 3, 0.0001 / 1024), (1, 4, 0.5);

CREATE TABLE weft.pool (
    pool_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 256)
);
INSERT INTO weft.pool (name) VALUES ('default');

CREATE TABLE weft.queue (
    queue_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    pool_id int NOT NULL REFERENCES weft.pool,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
    UNIQUE (tenant_id, name)
);

CREATE TABLE weft.worker (
    worker_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pool_id int NOT NULL REFERENCES weft.pool,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
    host text NOT NULL,
    UNIQUE (pool_id, name)
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
    waiting boolean NOT NULL DEFAULT false,   -- it waits for a notice on channel work
    draining boolean NOT NULL DEFAULT false,
    ended_at timestamptz                      -- NULL: alive
) WITH (fillfactor = 50);
CREATE INDEX worker_incarnation_alive_idx ON weft.worker_incarnation (pool_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX worker_incarnation_one_alive ON weft.worker_incarnation (worker_id) WHERE ended_at IS NULL;
