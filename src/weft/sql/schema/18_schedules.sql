-- Schedules: documents that are submitted as their owners at the times of a cron expression (ADR 34).
CREATE TABLE weft.schedule (
    schedule_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    user_id int NOT NULL REFERENCES weft.tenant_user,
    name text CHECK (length(name) <= 1024),  -- NULL: it has none
    billing_project text NOT NULL,  -- of the document
    cron text NOT NULL CHECK (length(cron) <= 200),
    time_zone text NOT NULL CHECK (length(time_zone) <= 100),
    missed text NOT NULL CHECK (missed IN ('skip', 'last', 'all')),
    document text NOT NULL,  -- JSON, as it came
    next_at timestamptz,  -- the next due time; NULL: paused
    paused_at timestamptz,  -- NULL: active
    pause_reason text CHECK (pause_reason IN ('user', 'failures', 'over')),  -- NULL: active
    n_failures int NOT NULL DEFAULT 0,  -- in a row
    n_missed bigint NOT NULL DEFAULT 0,  -- due times without a run
    created_at timestamptz NOT NULL,
    idempotency_key text,  -- NULL: the request had none
    digest bytea NOT NULL,
    project_id int,  -- of that name; NULL: there is none
    CONSTRAINT schedule_paused_or_next CHECK ((paused_at IS NULL) = (next_at IS NOT NULL)),
    CONSTRAINT schedule_pause_has_reason CHECK ((paused_at IS NULL) = (pause_reason IS NULL))
);
CREATE INDEX schedule_next_at_idx ON weft.schedule (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX schedule_tenant_id_idx ON weft.schedule (tenant_id, schedule_id);
CREATE UNIQUE INDEX schedule_user_id_idempotency_key_idx ON weft.schedule (user_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX schedule_user_idx ON weft.schedule (user_id, schedule_id);
CREATE INDEX schedule_project_idx ON weft.schedule (project_id, schedule_id);

-- The runs that wait for an api to submit them, and the newest ended ones.
CREATE TABLE weft.schedule_run (
    schedule_id bigint NOT NULL REFERENCES weft.schedule ON DELETE CASCADE,
    due_at timestamptz NOT NULL,  -- when a user asked for it, if by_hand
    tenant_id int NOT NULL,
    by_hand boolean NOT NULL DEFAULT false,
    taken_until timestamptz,  -- an api submits it, until then no other tries; NULL: none does
    ended_at timestamptz,  -- NULL: not submitted yet
    batch_id bigint,  -- which may be deleted; NULL: not submitted
    error jsonb,  -- why it was refused: code, message, detail, hint; NULL: it was not
    PRIMARY KEY (schedule_id, due_at),
    CONSTRAINT schedule_run_end_has_result CHECK ((ended_at IS NULL) = (batch_id IS NULL AND error IS NULL))
);
CREATE INDEX schedule_run_due_at_idx ON weft.schedule_run (due_at) WHERE ended_at IS NULL;
