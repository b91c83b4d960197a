-- Lifecycles: statuses that jobs of a batch have beside their states, and which may follow which (ADR 94).

-- The files of production lines, as they came.
CREATE TABLE weft.setup (
    tenant_id int NOT NULL REFERENCES weft.tenant,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    document text NOT NULL,
    saved_at timestamptz NOT NULL,
    saved_by text NOT NULL,
    PRIMARY KEY (tenant_id, name)
);

-- A lifecycle never changes: one that is saved again is a new one, and jobs keep theirs.
CREATE TABLE weft.lifecycle (
    lifecycle_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    setup text NOT NULL,  -- that brought it
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    statuses text[] NOT NULL,  -- a status is its place here; 0 stands for none yet
    document jsonb NOT NULL,  -- statuses, edges, cores and phases, to compare and to show
    -- how long jobs may have statuses, and what happens then (weft.core.lines.limits); NULL: as long as they
    -- like
    limits jsonb,
    saved_at timestamptz NOT NULL,
    saved_by text NOT NULL,
    ended_at timestamptz  -- new batches get it no more; NULL: they do
);
CREATE INDEX lifecycle_limits_idx ON weft.lifecycle (lifecycle_id) WHERE limits IS NOT NULL;
CREATE UNIQUE INDEX lifecycle_name_idx ON weft.lifecycle (tenant_id, name) WHERE ended_at IS NULL;

CREATE TABLE weft.lifecycle_edge (
    lifecycle_id int NOT NULL REFERENCES weft.lifecycle,
    tenant_id int NOT NULL,
    from_status smallint NOT NULL,
    to_status smallint NOT NULL CHECK (to_status > 0),
    PRIMARY KEY (lifecycle_id, from_status, to_status)
);

-- The core states that a status names.
CREATE TABLE weft.lifecycle_core (
    lifecycle_id int NOT NULL REFERENCES weft.lifecycle,
    tenant_id int NOT NULL,
    state smallint NOT NULL REFERENCES weft.job_state,
    status smallint NOT NULL CHECK (status > 0),
    PRIMARY KEY (lifecycle_id, state, status)
);

-- What a core move brings, by the status before it.
CREATE TABLE weft.lifecycle_move (
    lifecycle_id int NOT NULL REFERENCES weft.lifecycle,
    tenant_id int NOT NULL,
    state smallint NOT NULL REFERENCES weft.job_state,
    -- 0: whatever it is; negative: the status that an exit code asks for; 20, 21: all is sent, or still to be
    -- (core/lines/lifecycle.py)
    within smallint NOT NULL,
    from_status smallint NOT NULL,
    way smallint[],  -- the statuses to go through; empty: it fits already; NULL: no allowed way leads there
    PRIMARY KEY (lifecycle_id, state, from_status, within)
);

-- What exit codes mean.
CREATE TABLE weft.lifecycle_exit (
    lifecycle_id int NOT NULL REFERENCES weft.lifecycle,
    tenant_id int NOT NULL,
    first_code int NOT NULL,
    last_code int NOT NULL,
    status smallint,  -- NULL: a success
    subtype text,
    tries int NOT NULL CHECK (tries > 0),  -- ends of this kind, after which it is not tried again
    products boolean NOT NULL,  -- whether there is something to send
    PRIMARY KEY (lifecycle_id, first_code)
);

-- The status of a job with a lifecycle. Whoever changes a row has the job's row.
CREATE TABLE weft.job_status (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    status smallint NOT NULL,
    since timestamptz NOT NULL,
    n int NOT NULL,  -- the number of its last row in job_status_change
    PRIMARY KEY (batch_id, job_id)
) WITH (fillfactor = 50);

CREATE TABLE weft.job_status_change (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    n int NOT NULL,  -- 1, 2, ...
    tenant_id int NOT NULL,
    at timestamptz NOT NULL,
    status smallint NOT NULL,
    state smallint NOT NULL,  -- of the core, after it
    -- the core moved, and no allowed way led to a status of its state: the status stayed
    forbidden boolean NOT NULL DEFAULT false,
    attempt smallint,  -- NULL: there was none yet
    actor text NOT NULL,
    subtype text,
    message text CHECK (length(message) <= 1024),
    PRIMARY KEY (batch_id, job_id, n)
);

-- A row is written once. It goes with its batch, in the steps of a removal, and not before.
CREATE FUNCTION weft._keep_status_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = OLD.batch_id AND b.removing)
    THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the history of job b%.j% cannot change',
        OLD.batch_id,
        OLD.job_id
        USING ERRCODE = 'WF900',
        DETAIL = 'Rows of weft.job_status_change are written once.',
        HINT = 'This is a defect of weft; nothing was changed.';
END $$;
CREATE TRIGGER status_change_is_kept BEFORE UPDATE OR DELETE ON weft.job_status_change FOR EACH ROW
    EXECUTE FUNCTION weft._keep_status_change();
REVOKE ALL ON weft.job_status_change FROM weft_tenant, weft_system;
GRANT SELECT, INSERT ON weft.job_status_change TO weft_tenant;
GRANT SELECT, INSERT, DELETE ON weft.job_status_change TO weft_system;

-- Every move of the core brings its status, wherever it is made: moves are noted, and written together at the
-- end of their statement, or when they are many. Other jobs cost one comparison, their statements another.
CREATE FUNCTION weft._follow_core() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_moves text := nullif(current_setting('weft.moves', true), '');
BEGIN
    -- change_status writes what a person set
    IF TG_LEVEL = 'ROW' AND current_setting('weft.walks', true) IS DISTINCT FROM 'on' THEN
        v_moves := set_config(
            'weft.moves',
            concat_ws(
                ',',
                v_moves,
                NEW.batch_id,
                NEW.job_id,
                OLD.state,
                coalesce(OLD.phase::text, 'NULL'),
                coalesce(NEW.incarnation_id::text, OLD.incarnation_id::text, 'NULL')
            ),
            true
        );
    END IF;
    IF length(v_moves) > 10000 OR TG_LEVEL = 'STATEMENT' AND v_moves IS NOT NULL THEN
        PERFORM weft._bring_statuses();
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER status_follows_core AFTER UPDATE OF state, phase ON weft.job FOR EACH ROW
    WHEN (new.lifecycle_id IS NOT NULL AND (old.state <> new.state OR old.phase IS DISTINCT FROM new.phase))
    EXECUTE FUNCTION weft._follow_core();
CREATE TRIGGER statuses_follow_core AFTER UPDATE OF state, phase ON weft.job FOR EACH STATEMENT
    EXECUTE FUNCTION weft._follow_core();
