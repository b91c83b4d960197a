-- The trail: who asked for each change, when, from where, on which trace id. Rows are added and never changed; the leading driver seals
-- them in a chain of digests.
CREATE TABLE weft.trail_unsealed (
    request_id uuid NOT NULL,  -- a request of several transactions has several rows
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    user_name text NOT NULL,
    token_id bigint,  -- NULL: a token of another issuer, or a schedule
    address text,     -- NULL: a schedule, or a local socket
    trace_id text NOT NULL,
    action text NOT NULL,
    path text NOT NULL CHECK (length(path) <= 1000),
    batch_id bigint,  -- NULL: it is about no batch
    refused text,     -- the code of the error; NULL: it was done
    at timestamptz NOT NULL
);
-- No foreign keys: an entry outlives what it names, and writers wait for nobody.
CREATE TABLE weft.trail_entry (
    number bigint PRIMARY KEY,
    LIKE weft.trail_unsealed INCLUDING CONSTRAINTS,
    sealed_at timestamptz NOT NULL,
    digest bytea NOT NULL,  -- of what it says and of the digest before
    UNIQUE (request_id)
);
CREATE INDEX trail_entry_tenant_id_idx ON weft.trail_entry (tenant_id, number);
CREATE INDEX trail_entry_user_name_idx ON weft.trail_entry (tenant_id, user_name, number);
CREATE INDEX trail_entry_batch_id_idx ON weft.trail_entry (batch_id, number) WHERE batch_id IS NOT NULL;
CREATE INDEX trail_entry_sealed_at_idx ON weft.trail_entry (sealed_at, number);
-- What was sealed last: without it the last entries could be removed unseen.
CREATE TABLE weft.trail_head (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    number bigint NOT NULL,
    digest bytea NOT NULL
);
INSERT INTO weft.trail_head (number, digest) VALUES (0, '');
REVOKE ALL ON weft.trail_unsealed, weft.trail_entry, weft.trail_head FROM weft_tenant, weft_system;
GRANT SELECT ON weft.trail_unsealed, weft.trail_entry TO weft_tenant;
GRANT SELECT, INSERT, DELETE ON weft.trail_unsealed TO weft_system;  -- DELETE: what seal_trail moves
GRANT SELECT, INSERT ON weft.trail_entry TO weft_system;
GRANT SELECT, UPDATE ON weft.trail_head TO weft_system;
DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['trail_unsealed', 'trail_entry'] LOOP
        EXECUTE format('ALTER TABLE weft.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY tenant_rows ON weft.%I TO weft_tenant'
            ' USING (tenant_id = (SELECT current_setting(''weft.tenant'')::int))', v_table);
        EXECUTE format('CREATE POLICY system_rows ON weft.%I TO weft_system USING (true)', v_table);
    END LOOP;
END $$;
