-- The trail: who asked for each change, when, from where, on which trace id. Rows are added and never
-- changed; the leading driver seals them in a chain of digests.
CREATE TABLE weft.trail_unsealed (
    request_id uuid NOT NULL,  -- a request of several transactions has several rows
    tenant_id int,  -- NULL: a login that failed, of nobody knows whom
    user_id int,  -- NULL: likewise, or the issuer's word for somebody who is no user
    user_name text,  -- NULL: as tenant_id
    token_id bigint,  -- NULL: a token of another issuer, or a schedule
    address text,  -- NULL: a schedule, or a local socket
    trace_id text NOT NULL,
    action text NOT NULL,
    path text NOT NULL CHECK (length(path) <= 1000),
    batch_id bigint,  -- NULL: it is about no batch
    refused text,  -- the code of the error; NULL: it was done
    at timestamptz NOT NULL,
    times int CHECK (
        times > 1
    )  -- NULL: it stands for one
);

-- No foreign keys: an entry outlives what it names, and writers wait for nobody.
CREATE TABLE weft.trail_entry (
    number bigint PRIMARY KEY,
    request_id uuid NOT NULL,  -- a request of several transactions has several rows
    tenant_id int,
    user_id int,
    user_name text,
    token_id bigint,  -- NULL: a token of another issuer, or a schedule
    address text,  -- NULL: a schedule, or a local socket
    trace_id text NOT NULL,
    action text NOT NULL,
    path text NOT NULL CHECK (length(path) <= 1000),
    batch_id bigint,  -- NULL: it is about no batch
    refused text,  -- the code of the error; NULL: it was done
    at timestamptz NOT NULL,
    sealed_at timestamptz NOT NULL,
    digest bytea NOT NULL,  -- of what it says and of the digest before
    times int CHECK (times > 1),
    UNIQUE (request_id)
);
CREATE INDEX trail_entry_tenant_id_idx ON weft.trail_entry (tenant_id, number);
CREATE INDEX trail_entry_user_name_idx ON weft.trail_entry (tenant_id, user_name, number);
CREATE INDEX trail_entry_batch_id_idx ON weft.trail_entry (batch_id, number) WHERE batch_id IS NOT NULL;
CREATE INDEX trail_entry_sealed_at_idx ON weft.trail_entry (sealed_at, number);
CREATE INDEX trail_entry_action_idx ON weft.trail_entry (tenant_id, action, number);

-- What was sealed last: without it the last entries could be removed unseen.
CREATE TABLE weft.trail_head (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    number bigint NOT NULL,
    digest bytea NOT NULL,
    -- Old entries of the trail can be removed: the chain then begins after the last one that is gone.
    removed_number bigint NOT NULL DEFAULT 0,  -- 0: nothing was removed
    removed_digest bytea NOT NULL DEFAULT ''
);
INSERT INTO weft.trail_head (number, digest) VALUES (0, '');

-- Not even their owner's functions change what is there.
REVOKE ALL ON weft.trail_unsealed, weft.trail_entry, weft.trail_head FROM weft_tenant, weft_system;
GRANT SELECT ON weft.trail_unsealed, weft.trail_entry TO weft_tenant;
GRANT SELECT, INSERT, DELETE ON weft.trail_unsealed, weft.trail_entry TO weft_system;
GRANT SELECT, UPDATE ON weft.trail_head TO weft_system;
