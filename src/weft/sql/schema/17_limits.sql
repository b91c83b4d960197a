-- Limits of spending, and quotas.

-- Limits of what billing projects, users, batches and groups use, in money or in hours of a resource: what
-- slows them down, what pauses their batches or cancels them.
CREATE TABLE weft.spend_limit (
    limit_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    project_id int REFERENCES weft.billing_project,
    amount_max numeric CHECK (amount_max BETWEEN 0 AND 1e15),  -- NULL: there is none
    amount_soft_max numeric CHECK (amount_soft_max BETWEEN 0 AND 1e15),  -- NULL: nothing slows it down
    on_limit text NOT NULL DEFAULT 'pause' CHECK (on_limit IN ('pause', 'cancel')),
    until timestamptz,  -- then there is none; NULL: it stays
    version int NOT NULL DEFAULT 1,  -- of the four above
    judged_version int,  -- of which the driver knows; NULL: of none
    stage text NOT NULL DEFAULT 'below' CHECK (stage IN ('below', 'slowed', 'reached')),
    -- since when batches agree with the stage; NULL: not all do
    applied_at timestamptz DEFAULT clock_timestamp(),
    user_id int REFERENCES weft.tenant_user,
    batch_id bigint,
    group_id int,  -- 0: the whole batch
    -- Core hours, GiB hours, GiB hours of disk, GPU hours.
    measure text NOT NULL DEFAULT 'cost' CHECK (measure IN ('cost', 'cpu', 'memory', 'storage', 'gpu')),
    -- A limit that is near its end lets only those jobs start that fit below it (ADR 62): its hold admits
    -- jobs that have an admission.
    near boolean NOT NULL DEFAULT false,  -- all workers together could use what is left soon
    owner_id int,  -- the user, or whose the batch is; NULL: it is a project's
    shared_project_id int,  -- the project, or that of the batch; NULL: it is a user's
    CONSTRAINT limit_is_of_one
        CHECK (num_nonnulls(project_id, user_id, batch_id) = 1 AND (batch_id IS NULL) = (group_id IS NULL))
);
CREATE INDEX spend_limit_until_idx ON weft.spend_limit (until) WHERE until IS NOT NULL;
CREATE INDEX spend_limit_unapplied_idx ON weft.spend_limit (limit_id) WHERE applied_at IS NULL;
CREATE UNIQUE INDEX spend_limit_project_idx ON weft.spend_limit (project_id, measure) WHERE project_id
    IS NOT NULL;
CREATE UNIQUE INDEX spend_limit_user_idx ON weft.spend_limit (user_id, measure) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX spend_limit_batch_idx ON weft.spend_limit (batch_id, group_id, measure) WHERE batch_id
    IS NOT NULL;
-- A limit that was taken away stays as a row.
CREATE INDEX spend_limit_page_idx ON weft.spend_limit (tenant_id, limit_id) WHERE amount_max
    IS NOT NULL OR amount_soft_max IS NOT NULL OR stage <> 'below';
CREATE INDEX spend_limit_owner_idx ON weft.spend_limit (owner_id, limit_id) WHERE amount_max
    IS NOT NULL OR amount_soft_max IS NOT NULL OR stage <> 'below';
CREATE INDEX spend_limit_shared_idx ON weft.spend_limit (shared_project_id, limit_id) WHERE amount_max
    IS NOT NULL OR amount_soft_max IS NOT NULL OR stage <> 'below';
CREATE INDEX spend_limit_of_batch_idx ON weft.spend_limit (batch_id, limit_id) WHERE batch_id
    IS NOT NULL AND (amount_max IS NOT NULL OR amount_soft_max IS NOT NULL OR stage <> 'below');

CREATE FUNCTION weft._note_limited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.owner_id := NEW.user_id;
    NEW.shared_project_id := NEW.project_id;
    IF NEW.batch_id IS NOT NULL THEN
        SELECT b.user_id, b.project_id
        INTO NEW.owner_id, NEW.shared_project_id
        FROM weft.batch b
        WHERE b.batch_id = NEW.batch_id;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER limit_begins BEFORE INSERT ON weft.spend_limit FOR EACH ROW
    EXECUTE FUNCTION weft._note_limited();

-- An attempt that a limit lets start; one row for each limit that is near. It admits while the attempt has
-- not begun.
CREATE TABLE weft.admission (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    limit_id int NOT NULL,
    attempt smallint NOT NULL,
    tenant_id int NOT NULL,
    used_per_hour numeric NOT NULL,  -- what it will use, in the measure of the limit
    admitted_at timestamptz NOT NULL,
    -- false: the driver saw that it was claimed or ended, or took it back. One that is older than the hold
    -- admits nothing, either.
    open boolean NOT NULL DEFAULT true,
    PRIMARY KEY (batch_id, job_id, limit_id, attempt)
);
CREATE INDEX admission_open_idx ON weft.admission (limit_id) WHERE open;
CREATE INDEX admission_limit_idx ON weft.admission (limit_id);

-- How much the users of a tenant may have submitted at a time. user_id: 0 for each user, as far as a row of
-- their own says nothing; -1 for all users together, which administrators of the site set. NULL: no limit.
CREATE TABLE weft.quota (
    tenant_id int NOT NULL REFERENCES weft.tenant,
    user_id int NOT NULL CHECK (user_id >= -1),
    jobs_max bigint CONSTRAINT quota_of_jobs CHECK (jobs_max >= 0),  -- that have not ended
    batches_max bigint CONSTRAINT quota_of_batches CHECK (batches_max >= 0),  -- that have such jobs
    -- How many mCPU of a user's jobs, or of those of all users of a tenant, run at a time: counted by gates,
    -- of which a job takes as many places as it asks for mCPU.
    cores_max_m bigint CONSTRAINT quota_of_cores CHECK (cores_max_m BETWEEN 0 AND 1000000000),
    -- How much is stored for a user, or for all users of a tenant: output of attempts, specs and payloads
    -- (ADR 70).
    bytes_max bigint CONSTRAINT quota_of_bytes CHECK (bytes_max >= 0),
    PRIMARY KEY (tenant_id, user_id)
);
