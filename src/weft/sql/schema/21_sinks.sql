-- Sinks of production lines: where jobs that end well are announced (docs/guides/production-lines.md).
-- Messages are rows of callback_delivery.

-- A sink that is applied again is the same one, with another document: what is still to be sent goes to its
-- new address.
CREATE TABLE weft.sink (
    sink_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    setup text NOT NULL,
    user_id int NOT NULL REFERENCES weft.tenant_user,  -- whose secrets it names
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    document jsonb NOT NULL,  -- its fields (weft.core.lines.line)
    saved_at timestamptz NOT NULL,
    saved_by text NOT NULL,
    ended_at timestamptz  -- new batches get it no more; NULL: they do
);
CREATE UNIQUE INDEX sink_name_idx ON weft.sink (tenant_id, name) WHERE ended_at IS NULL;
