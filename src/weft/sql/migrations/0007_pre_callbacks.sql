-- Callbacks: one delivery for each completion of a batch or group that has an address to be told (docs/guides/callbacks.md).
CREATE TABLE weft.callback_delivery (
    delivery_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name uuid NOT NULL DEFAULT gen_random_uuid(),  -- what the receiver is told, the same in every attempt
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    completion int NOT NULL,
    tenant_id int NOT NULL,
    url text NOT NULL,
    host text NOT NULL,                        -- of the url: one that is slow must not delay the others
    body text NOT NULL,                        -- the status document as it was at the completion
    created_at timestamptz NOT NULL,
    n_attempts int NOT NULL DEFAULT 0,
    next_at timestamptz,                       -- NULL: delivered or given up
    tried_at timestamptz,                      -- NULL: not yet
    delivered_at timestamptz,                  -- NULL: not yet, or given up
    last_status int,                           -- NULL: the last attempt had no answer, or there was none
    last_error text CHECK (length(last_error) <= 1024),  -- NULL: it had one
    UNIQUE (batch_id, group_id, completion)
);
CREATE INDEX callback_delivery_batch_idx ON weft.callback_delivery (batch_id, delivery_id);
CREATE INDEX callback_delivery_host_idx ON weft.callback_delivery (tenant_id, host, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX callback_delivery_due_idx ON weft.callback_delivery (next_at) WHERE next_at IS NOT NULL;

ALTER TABLE weft.callback_delivery ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON weft.callback_delivery TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.callback_delivery TO weft_system USING (true);
