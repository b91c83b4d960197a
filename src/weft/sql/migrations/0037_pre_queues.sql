-- Queues as an operator describes them. The queue `default` takes what no guard takes; it has no priority and no guard.
ALTER TABLE weft.queue ADD COLUMN priority int;                                 -- orders routing, the highest first; NULL: default
ALTER TABLE weft.queue ADD COLUMN guard text CHECK (length(guard) <= 1000);     -- CEL; NULL: only jobs that name the queue
ALTER TABLE weft.queue ADD COLUMN pools text[] NOT NULL DEFAULT '{default}';    -- in order; pool_id is the first
ALTER TABLE weft.queue ADD COLUMN executor text;                                -- of jobs that name none; NULL: process
ALTER TABLE weft.queue ADD COLUMN users text[];                                 -- NULL: all of the tenant
ALTER TABLE weft.queue ADD COLUMN state text NOT NULL DEFAULT 'enabled' CHECK (state IN ('enabled', 'draining', 'closed'));
ALTER TABLE weft.queue ADD COLUMN max_running int CHECK (max_running >= 0);                     -- NULL: no limit
ALTER TABLE weft.queue ADD COLUMN max_running_per_user int CHECK (max_running_per_user >= 0);   -- NULL: no limit
ALTER TABLE weft.queue ADD COLUMN max_waiting int CHECK (max_waiting >= 0);                     -- NULL: no limit
ALTER TABLE weft.queue ADD COLUMN transport text NOT NULL DEFAULT 'postgres';
ALTER TABLE weft.queue ADD CONSTRAINT queue_tenant_id_priority_key UNIQUE (tenant_id, priority);
-- Jobs of other queues ask for the queue and for one of its pools (ADR 28). NULL: the pool of the queue of the batch.
ALTER TABLE weft.lane ADD COLUMN pool_id int REFERENCES weft.pool;

-- Jobs that wait and run in each queue but `default`, folded; what runs or waits besides is in `default`.
CREATE TABLE weft.queue_count (
    tenant_id int NOT NULL,
    queue text NOT NULL,
    n_waiting bigint NOT NULL DEFAULT 0,
    n_running bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, queue)
) WITH (fillfactor = 50);
ALTER TABLE weft.queue_count ENABLE ROW LEVEL SECURITY;
CREATE POLICY system_rows ON weft.queue_count TO weft_system USING (true);
CREATE POLICY tenant_rows ON weft.queue_count TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
