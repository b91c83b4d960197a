-- Events, and callbacks.

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
    detail jsonb,  -- what it says that is not about jobs or groups of a batch
    PRIMARY KEY (xid, event_id)
) WITH (autovacuum_vacuum_cost_delay = 2, autovacuum_vacuum_cost_limit = 1000);
ALTER TABLE weft.event ALTER COLUMN jobs SET STORAGE EXTERNAL;

CREATE TABLE weft.event_floor (
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    xid xid8 NOT NULL,  -- events up to this position were removed
    event_id bigint NOT NULL
);
INSERT INTO weft.event_floor (xid, event_id) VALUES ('0', 0);

CREATE TABLE weft.event_listener (
    listener_id uuid PRIMARY KEY,
    waiting boolean NOT NULL,
    seen_at timestamptz NOT NULL
) WITH (fillfactor = 10);

-- Deliveries: what is sent until it has arrived. Callbacks: one for each completion of a batch or group that
-- has an address to be told (docs/guides/callbacks.md). Messages: one for each job that ended well and sink
-- of its batch. Notices: one for each event of a job that a subscription asks for.
CREATE TABLE weft.callback_delivery (
    delivery_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL DEFAULT 'callback' CHECK (kind IN ('callback', 'message', 'notice')),
    name uuid NOT NULL DEFAULT gen_random_uuid(),  -- what the receiver is told, the same in every attempt
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int,  -- of a callback
    completion int,  -- the same
    job_id int,  -- of a message
    sink_id int,  -- the same
    file text NOT NULL DEFAULT '',  -- the same: which file of the job it is; empty: the job as a whole
    subscription_id bigint,  -- of a notice
    event_key text,  -- the same: which event, as the door's story of the job names it
    -- Messages of one sink that have the same one are sent one after another; NULL: as they come. A notice
    -- that has one is sent when those of its subscription before it are over; NULL: when they have been
    -- tried.
    order_key text,
    tenant_id int NOT NULL,
    url text NOT NULL,
    host text NOT NULL,  -- of the url: one that is slow must not delay the others
    -- the status document as it was at the completion, or at the event; of a message, what its template gets
    body text NOT NULL,
    created_at timestamptz NOT NULL,
    n_attempts int NOT NULL DEFAULT 0,
    next_at timestamptz,  -- NULL: delivered or given up
    tried_at timestamptz,  -- NULL: not yet
    delivered_at timestamptz,  -- NULL: not yet, or given up
    last_status int,  -- NULL: the last attempt had no answer, or there was none
    last_error text CHECK (length(last_error) <= 1024),  -- NULL: it had one
    -- a message of its order is before it and still to be sent: it is not looked at, until that is over
    behind boolean NOT NULL DEFAULT false,
    -- a check stopped it, and what a person decided; NULL: none did
    held text CHECK (held IN ('held', 'passed', 'dropped')),
    UNIQUE (batch_id, group_id, completion),
    CHECK ((kind = 'callback') = (group_id IS NOT NULL) AND (group_id IS NULL) = (completion IS NULL)),
    CHECK ((kind = 'message') = (job_id IS NOT NULL) AND (job_id IS NULL) = (sink_id IS NULL)),
    CHECK (
        (kind = 'notice') = (subscription_id IS NOT NULL) AND (subscription_id IS NULL) = (event_key IS NULL)
    )
);
CREATE UNIQUE INDEX callback_delivery_job_idx ON weft.callback_delivery (batch_id, job_id, file, sink_id)
    WHERE job_id IS NOT NULL;
CREATE INDEX callback_delivery_sink_idx ON weft.callback_delivery (sink_id, delivery_id) WHERE sink_id
    IS NOT NULL;
CREATE INDEX callback_delivery_unsent_idx ON weft.callback_delivery (sink_id, batch_id) WHERE sink_id
    IS NOT NULL AND delivered_at IS NULL AND held IS DISTINCT FROM 'dropped';
CREATE INDEX callback_delivery_order_idx ON weft.callback_delivery (sink_id, order_key, delivery_id)
    WHERE next_at IS NOT NULL AND order_key IS NOT NULL;
CREATE UNIQUE INDEX callback_delivery_event_idx ON weft.callback_delivery (subscription_id, event_key)
    WHERE subscription_id IS NOT NULL;
CREATE INDEX callback_delivery_turn_idx ON weft.callback_delivery (subscription_id, delivery_id) WHERE next_at
    IS NOT NULL AND subscription_id IS NOT NULL;
CREATE INDEX callback_delivery_batch_idx ON weft.callback_delivery (batch_id, delivery_id);
CREATE INDEX callback_delivery_host_idx ON weft.callback_delivery (tenant_id, host, next_at) WHERE next_at
    IS NOT NULL AND NOT behind;
CREATE INDEX callback_delivery_due_idx ON weft.callback_delivery (next_at) WHERE next_at
    IS NOT NULL AND NOT behind;

-- Whatever ends a message of an order, or removes it, brings the next one back among what is due. Others cost
-- one comparison.
CREATE FUNCTION weft._leave_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._bring_next(ARRAY[OLD.sink_id], ARRAY[OLD.order_key]);
    RETURN NULL;
END $$;
CREATE TRIGGER delivery_leaves_its_order AFTER UPDATE OF next_at ON weft.callback_delivery FOR EACH ROW WHEN (
    old.order_key IS NOT NULL AND old.sink_id IS NOT NULL AND old.next_at IS NOT NULL AND new.next_at IS NULL
) EXECUTE FUNCTION weft._leave_order();
CREATE FUNCTION weft._leave_orders() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._bring_next(array_agg(o.sink_id), array_agg(o.order_key))
    FROM (
        SELECT DISTINCT g.sink_id, g.order_key
        FROM gone g
        WHERE g.order_key IS NOT NULL AND g.sink_id IS NOT NULL
    ) o
    HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER deliveries_go AFTER DELETE ON weft.callback_delivery REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION weft._leave_orders();
