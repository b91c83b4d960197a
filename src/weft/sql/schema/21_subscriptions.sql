-- Subscriptions: who is told of what happens to a job that came through a door
-- (docs/guides/coming-from-agave.md). What is sent are rows of callback_delivery.

CREATE TABLE weft.subscription (
    subscription_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    tenant_id int NOT NULL,
    name text NOT NULL CHECK (length(name) <= 64),  -- what the receiver is told
    url text NOT NULL CHECK (length(url) <= 2048),  -- with variables that the door fills
    event text NOT NULL CHECK (length(event) <= 32),  -- in the words of the door; '*': any
    persistent boolean NOT NULL,  -- false: it ends with its first delivery
    policy jsonb NOT NULL,  -- how it is tried again (weft.core.deliveries.delivery_retry)
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),  -- no event before it is looked for
    ended_at timestamptz  -- NULL: it is open
);
CREATE INDEX subscription_batch_idx ON weft.subscription (batch_id);
CREATE INDEX subscription_open_idx ON weft.subscription (xid) WHERE ended_at IS NULL;
