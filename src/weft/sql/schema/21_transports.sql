-- Jobs that travel to workers over a transport (ADR 92): what was offered to it, and who took it.

CREATE TABLE weft.transport_offer (
    offer_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    pool_id int NOT NULL,
    queue text NOT NULL,
    transport text NOT NULL,
    offered_at timestamptz NOT NULL,
    -- of the next message: one that is not confirmed or not answered is sent again
    send_at timestamptz NOT NULL,
    sends smallint NOT NULL DEFAULT 0,
    confirmed_at timestamptz,  -- NULL: the transport has not confirmed the message
    attempt smallint,  -- that it became; NULL: nobody has claimed it
    fence uuid,  -- what a foreign program must know to answer it; NULL: it is for workers of weft
    answered_at timestamptz,  -- when a foreign program last told of it
    weight double precision NOT NULL,  -- of the user in fair share, when it was offered
    UNIQUE (batch_id, job_id)
);
CREATE INDEX transport_offer_send_idx ON weft.transport_offer (send_at) WHERE attempt IS NULL;

-- What the leading driver saw when it last looked at a connection.
CREATE TABLE weft.transport_state (
    transport text PRIMARY KEY,
    looked_at timestamptz NOT NULL,
    away_since timestamptz,  -- NULL: it answered
    error text CHECK (
        length(error) <= 1000
    )  -- why it did not
);
ROWS_OF_SYSTEM weft.transport_state;

-- What a transport holds of a queue, as it said then.
CREATE TABLE weft.transport_depth (
    transport text NOT NULL,
    tenant_id int NOT NULL,
    queue text NOT NULL,
    messages bigint NOT NULL,  -- that it has to deliver
    consumers int NOT NULL,
    PRIMARY KEY (transport, tenant_id, queue)
);

-- Runs that records of topics ask for, by the ids of their records: each is had once.
CREATE TABLE weft.topic_run (
    event_id uuid PRIMARY KEY,
    owner text NOT NULL,  -- the incarnation that runs it (weft.worker_incarnation.name)
    begun_at timestamptz NOT NULL,
    ended_at timestamptz,  -- NULL: it runs, unless its owner has ended
    failed boolean NOT NULL DEFAULT false,
    error text CHECK (length(error) <= 4096),
    tenant_id int REFERENCES weft.tenant,  -- whose topics they are; NULL: it is the run of an attempt
    job_id text CHECK (length(job_id) <= 64),  -- these as the record says them; of an attempt NULL
    trace_id text CHECK (length(trace_id) <= 1024),
    record_id uuid
);
CREATE INDEX topic_run_begun_idx ON weft.topic_run (begun_at);
CREATE INDEX topic_run_job_idx ON weft.topic_run (tenant_id, job_id, begun_at) WHERE tenant_id IS NOT NULL;

-- How far the events of a tenant are told to somebody outside, and those of all tenants to subscriptions.
CREATE TABLE weft.event_reader (
    reader text PRIMARY KEY,
    tenant_id int REFERENCES weft.tenant,  -- NULL: of all
    xid xid8 NOT NULL,  -- the last event that was told, in the order of list_events
    event_id bigint NOT NULL
);

-- Messages that nobody wants, as the driver found them at a transport (ADR 113).
CREATE TABLE weft.dead_message (
    dead_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    transport text NOT NULL,
    -- the queue or topic in which it was, or should have come
    source text NOT NULL CHECK (length(source) <= 500),
    -- of weft, in which it can be put again ('': answers of foreign programs, '+': submissions); NULL: none
    queue text,
    reason text NOT NULL
        CHECK (reason IN ('refused', 'unroutable', 'rejected', 'expired', 'full', 'undelivered')),
    error text CHECK (length(error) <= 4000),  -- with which weft has refused it
    kept_at timestamptz NOT NULL,
    body bytea NOT NULL CHECK (octet_length(body) <= 65536),
    n_bytes bigint NOT NULL CHECK (n_bytes >= octet_length(body)),  -- that it had
    resend_at timestamptz,  -- when somebody asked for it to be sent again
    acknowledged jsonb  -- by whom, when and with which note; NULL: it is still to be seen to
);
CREATE INDEX dead_message_tenant_idx ON weft.dead_message (tenant_id, dead_id);
CREATE INDEX dead_message_kept_idx ON weft.dead_message (kept_at);
CREATE INDEX dead_message_resend_idx ON weft.dead_message (resend_at) WHERE resend_at IS NOT NULL;

-- Offers that became worthless, of which the foreign programs that have them are to hear.
CREATE TABLE weft.transport_cancel (
    offer_id bigint PRIMARY KEY,
    tenant_id int NOT NULL,
    transport text NOT NULL,
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    at timestamptz NOT NULL
);

CREATE FUNCTION weft._note_worthless() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO weft.transport_cancel (offer_id, tenant_id, transport, batch_id, job_id, at)
    VALUES (OLD.offer_id, OLD.tenant_id, OLD.transport, OLD.batch_id, OLD.job_id, clock_timestamp());
    RETURN NULL;
END $$;
CREATE TRIGGER offer_is_worthless AFTER DELETE ON weft.transport_offer FOR EACH ROW
    WHEN (old.fence IS NOT NULL) EXECUTE FUNCTION weft._note_worthless();
