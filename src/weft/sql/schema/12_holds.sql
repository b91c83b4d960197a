-- Holds, cancels and operations on many jobs.

-- Groups that are held, with all below them; 0: the batch. Claimers pass over their jobs. A sweep parks those
-- that are ready: in weft.ready_job under the negative number of their pool, where no claimer looks, and so
-- are the ranges of a held batch. When the group is released the row stays until all that is not held
-- otherwise is listed again.
CREATE TABLE weft.group_hold (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    tenant_id int NOT NULL,
    held_at timestamptz NOT NULL,
    released_at timestamptz,  -- NULL: it is in force
    sweep_job int NOT NULL DEFAULT 0,  -- parked, or listed again, up to this job
    swept boolean NOT NULL DEFAULT false,
    -- A batch can be held by a person and by a limit, each without regard to the other.
    limit_id int NOT NULL DEFAULT 0,  -- 0: a person holds it
    admits boolean NOT NULL DEFAULT false,  -- of a limit that is near: admitted jobs pass it
    CONSTRAINT group_hold_pkey PRIMARY KEY (batch_id, group_id, limit_id)
);
CREATE INDEX group_hold_unswept_idx ON weft.group_hold (batch_id) WHERE NOT swept;
CREATE INDEX group_hold_limit_idx ON weft.group_hold (limit_id, batch_id) WHERE limit_id <> 0;

CREATE TABLE weft.job_hold (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    held_at timestamptz NOT NULL,
    PRIMARY KEY (batch_id, job_id)
);

CREATE TABLE weft.group_cancel (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    tenant_id int NOT NULL,
    cancelled_at timestamptz NOT NULL,
    actor text NOT NULL,
    force boolean NOT NULL,  -- also always_run jobs
    sweep_job int NOT NULL DEFAULT 0,  -- settled up to this job
    swept boolean NOT NULL DEFAULT false,
    -- Whose work a cancel ends, so that the sweep can serve each user in turn.
    user_id int NOT NULL,
    PRIMARY KEY (batch_id, group_id)
);
CREATE INDEX group_cancel_unswept_idx ON weft.group_cancel (batch_id) WHERE NOT swept;
CREATE INDEX group_cancel_user_idx ON weft.group_cancel (user_id, cancelled_at) WHERE NOT swept;
ROWS_OF_QUERIES weft.group_cancel;

-- A single job whose worker has been told to stop it.
CREATE TABLE weft.job_cancel (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    cancelled_at timestamptz NOT NULL,
    actor text NOT NULL,
    -- A running job is stopped because its deadline has passed, not by a user.
    late boolean NOT NULL DEFAULT false,
    PRIMARY KEY (batch_id, job_id)
);

CREATE TABLE weft.operation (
    operation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    batch_id bigint,  -- NULL: it is on batches of its user
    kind text NOT NULL CHECK (length(kind) <= 64),
    arguments jsonb NOT NULL DEFAULT '{}',
    state text NOT NULL DEFAULT 'running',
    position bigint NOT NULL DEFAULT 0,  -- where the next step goes on; its meaning is the kind's
    n_done bigint NOT NULL DEFAULT 0,
    n_total bigint NOT NULL DEFAULT 0,
    error jsonb,  -- a problem document; NULL: none
    result jsonb,
    trace_id text,
    idempotency_key text,
    digest bytea,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    -- Whose the batch is, noted with the row. NULL: it is on no batch, on a part of one, or on one whose rows
    -- are gone.
    owner_id int,
    project_id int,
    CONSTRAINT operation_state_check CHECK (state IN ('running', 'success', 'failed', 'cancelled'))
) WITH (fillfactor = 50);
CREATE INDEX operation_running_idx ON weft.operation (operation_id) WHERE state = 'running';
CREATE INDEX operation_tenant_idx ON weft.operation (tenant_id, operation_id);
CREATE UNIQUE INDEX operation_idempotency_key_idx ON weft.operation (user_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- They are removed some time after their end; those on a batch go with it.
CREATE INDEX operation_on_batches_idx ON weft.operation (ended_at) WHERE batch_id IS NULL AND ended_at
    IS NOT NULL;
-- Pages of who sees few of many batches: of their operations, and of batches in the order of their
-- completions. Each source – own ones, those of a project – has an index in that order.
CREATE INDEX operation_owner_idx ON weft.operation (owner_id, operation_id);
CREATE INDEX operation_project_idx ON weft.operation (project_id, operation_id);
-- Users see their own operations without a batch, too: those on many, or one that has removed it.
CREATE INDEX operation_user_idx ON weft.operation (user_id, operation_id) WHERE batch_id
    IS NULL OR kind = 'delete_batch';
CREATE INDEX operation_batch_idx ON weft.operation (batch_id, operation_id);
CREATE TRIGGER operation_begins BEFORE INSERT ON weft.operation FOR EACH ROW WHEN (NEW.batch_id IS NOT NULL)
    EXECUTE FUNCTION weft._note_owner();
