-- Queues: where jobs wait, by whom and how many.

CREATE TABLE weft.queue (
    queue_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    pool_id int NOT NULL REFERENCES weft.pool,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
    -- Queues as an operator describes them. The queue `default` takes what no guard takes; it has no priority
    -- and no guard.
    priority int,  -- orders routing, the highest first; NULL: default
    guard text CHECK (length(guard) <= 1000),  -- CEL; NULL: only jobs that name the queue
    pools text[] NOT NULL DEFAULT '{default}',  -- in order; pool_id is the first
    executor text,  -- of jobs that name none; NULL: process
    users text[],  -- NULL: all of the tenant
    state text NOT NULL DEFAULT 'enabled' CHECK (state IN ('enabled', 'draining', 'closed')),
    limits jsonb NOT NULL DEFAULT '{}',  -- what it says of kinds of gates, by queue_field (_gate_kinds)
    max_waiting int CHECK (max_waiting >= 0),  -- NULL: no limit
    transport text NOT NULL DEFAULT 'postgres',
    -- who gets its jobs from the transport
    consumers text NOT NULL DEFAULT 'weft' CHECK (consumers IN ('weft', 'foreign')),
    slots int CHECK (slots > 0),  -- of foreign consumers: jobs that are with them at a time
    queued_s int CHECK (queued_s > 0),  -- how long foreign consumers may tell nothing of a job; NULL: 600
    monitor jsonb,  -- NULL: no limits
    UNIQUE (tenant_id, name),
    CONSTRAINT queue_tenant_id_priority_key UNIQUE (tenant_id, priority),
    CONSTRAINT queue_foreign_check CHECK ((consumers = 'foreign') = (slots IS NOT NULL))
);
CREATE INDEX queue_monitor_idx ON weft.queue (tenant_id, name) WHERE monitor IS NOT NULL;
ROWS_OF_QUERIES weft.queue;

-- Jobs that wait and run in each queue but `default`, folded; what runs or waits besides is in `default`.
CREATE TABLE weft.queue_count (
    tenant_id int NOT NULL,
    queue text NOT NULL,
    n_waiting bigint NOT NULL DEFAULT 0,
    n_running bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, queue)
) WITH (fillfactor = 50);
