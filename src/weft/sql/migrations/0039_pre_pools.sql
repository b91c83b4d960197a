-- Pools as an operator describes them, and the machines that a provider makes for them (ADR 34).
ALTER TABLE weft.pool ADD COLUMN plan jsonb;  -- weft.core.pools.Pool; NULL: nobody described it, its workers come by themselves

CREATE TABLE weft.machine (
    machine_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pool_id int NOT NULL REFERENCES weft.pool,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 256),  -- at the provider, and of its worker
    provider text NOT NULL,
    provider_id text CHECK (length(provider_id) <= 1000),              -- what the provider calls it; NULL: not known yet
    flavour text NOT NULL,
    region text NOT NULL,                                              -- empty: the provider has none
    cpu_m bigint NOT NULL CHECK (cpu_m > 0),
    price_per_hour numeric NOT NULL CHECK (price_per_hour >= 0),
    pool_max int NOT NULL,                                             -- how many the pool might have when this one was made
    state text NOT NULL CHECK (state IN ('creating', 'active', 'cordoned', 'deleting', 'deleted')),
    reason text NOT NULL CHECK (length(reason) <= 1000),
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,                                   -- since when it has its state
    CONSTRAINT machine_dates_check CHECK (created_at <= changed_at)
);
CREATE INDEX machine_pool_id_idx ON weft.machine (pool_id) WHERE state <> 'deleted';
ALTER TABLE weft.machine ENABLE ROW LEVEL SECURITY;
CREATE POLICY system_rows ON weft.machine TO weft_system USING (true);

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
ALTER TABLE weft.pool_change ENABLE ROW LEVEL SECURITY;
CREATE POLICY system_rows ON weft.pool_change TO weft_system USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.machine, weft.pool_change TO weft_system;
