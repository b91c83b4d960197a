-- Sources of production lines, and the items that they yield, each of which becomes a job (ADR 96).

CREATE TABLE weft.source (
    source_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    setup text NOT NULL,  -- that brought it
    user_id int NOT NULL REFERENCES weft.tenant_user,  -- as whom jobs are submitted
    billing_project text NOT NULL,
    lifecycle text,  -- of its jobs; NULL: none
    kind text NOT NULL,  -- what reads it
    options jsonb NOT NULL,  -- of that kind
    every_s double precision NOT NULL CHECK (every_s > 0),
    template jsonb NOT NULL,  -- the job of an item, and how it is configured
    -- counts what makes the answer to an earlier reading void
    generation int NOT NULL DEFAULT 1,
    cursor jsonb,  -- where the next reading begins; NULL: at the beginning
    next_at timestamptz,  -- the next reading; NULL: none will be
    read_at timestamptz,  -- the last one that ended well; NULL: none has
    n_failures int NOT NULL DEFAULT 0,  -- readings in a row
    failed_since timestamptz,
    error text,  -- of the last reading; NULL: it went well
    paused_at timestamptz,  -- NULL: it is not
    ended_at timestamptz,  -- its setup has it no more; its items are remembered; NULL: it is there
    last_n bigint NOT NULL DEFAULT 0,  -- the number of its newest item
    work_at timestamptz,  -- when an api may make jobs of items; NULL: there is nothing to do
    taken_until timestamptz,  -- an api does so; NULL: none does
    taken_at timestamptz,  -- when one last did; NULL: none has
    n_taken bigint NOT NULL DEFAULT 0,  -- the last taking: what an earlier one says is void
    work_error text,  -- why no jobs could be made; NULL: they could
    bunch int NOT NULL DEFAULT 0,  -- the last set of items that was submitted, or is being
    batch_id bigint,  -- where that goes, or went; NULL: to a new batch
    batch_day date,  -- of that batch
    UNIQUE (tenant_id, name),
    CONSTRAINT source_reads_unless_stopped
        CHECK ((next_at IS NULL) = (paused_at IS NOT NULL OR ended_at IS NOT NULL)),
    CONSTRAINT source_failure_has_date CHECK ((failed_since IS NULL) = (error IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX source_next_at_idx ON weft.source (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX source_taken_at_idx ON weft.source (tenant_id, taken_at);
CREATE INDEX source_work_at_idx ON weft.source (work_at) WHERE work_at IS NOT NULL;

CREATE TABLE weft.source_item (
    source_id int NOT NULL REFERENCES weft.source,
    n bigint NOT NULL,  -- 1, 2, ... in the order in which they were found; some numbers are left out
    tenant_id int NOT NULL,
    key text NOT NULL CHECK (length(key) BETWEEN 1 AND 256),
    fields jsonb,  -- NULL: they could not be read
    found_at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('new', 'waiting', 'ready', 'job', 'cancelled', 'refused')),
    due_at timestamptz,  -- when an api looks at it; NULL: not again by itself
    reason text CHECK (length(reason) <= 1024),  -- why it waits, or has no job
    document jsonb,  -- of its job, while that is submitted
    parameters jsonb,  -- what decided about it: versions by name; NULL: none did
    batch_id bigint,  -- of its job, which may be deleted; NULL: it has none
    job_id int,
    series text CHECK (length(series) <= 256),  -- in which it stands; NULL: in none, or not known yet
    series_at numeric,  -- where: a number, or seconds since 1970
    series_from numeric,  -- how far back the item may stand that it comes after
    -- what the next item of the series goes on from, when its job is removed: state, status, statuses,
    -- attributes; {}: nothing, and it is passed over; NULL: its job is there
    left_over jsonb,
    -- what comes after it had been decided before it, and was not run again
    late boolean NOT NULL DEFAULT false,
    PRIMARY KEY (source_id, n),
    UNIQUE (source_id, key),
    CONSTRAINT source_item_stands_in_its_series CHECK (num_nulls(series, series_at, series_from) IN (0, 3)),
    CONSTRAINT source_item_is_due_while_it_waits CHECK ((due_at IS NOT NULL) = (state IN ('new', 'waiting'))),
    CONSTRAINT source_item_has_document CHECK ((document IS NOT NULL) = (state = 'ready')),
    CONSTRAINT source_item_has_job CHECK (state <> 'job' OR batch_id IS NOT NULL AND job_id IS NOT NULL),
    CONSTRAINT source_item_says_why
        CHECK (state NOT IN ('waiting', 'cancelled', 'refused') OR reason IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX source_item_due_idx ON weft.source_item (source_id, due_at, n) WHERE due_at IS NOT NULL;
CREATE INDEX source_item_series_idx ON weft.source_item (source_id, series, series_at, n) WHERE series
    IS NOT NULL;
-- What may be before a point of a series: however many there are that can not, the next one is a step away.
CREATE INDEX source_item_before_idx ON weft.source_item (source_id, series, series_at, n) WHERE series IS NOT
        NULL AND state NOT IN ('cancelled', 'refused') AND (
            state <> 'job' OR left_over IS DISTINCT FROM '{}'
        );
-- What was decided after a point of a series: items that come late ask.
CREATE INDEX source_item_decided_idx ON weft.source_item (source_id, series, series_at, n) WHERE series
    IS NOT NULL AND state IN ('job', 'cancelled', 'refused');
-- Those whose jobs are there, of series: before a job is removed.
CREATE INDEX source_item_job_idx ON weft.source_item (batch_id, job_id) WHERE series
    IS NOT NULL AND state = 'job' AND left_over IS NULL;
CREATE INDEX source_item_ready_idx ON weft.source_item (source_id, n) WHERE state = 'ready';

-- The dated states of an item beside those of its job: the last 100 (_note_item). What a job is made of is
-- told of both.
CREATE TABLE weft.source_item_change (
    source_id int NOT NULL,
    n bigint NOT NULL,
    change_id bigint GENERATED ALWAYS AS IDENTITY,
    tenant_id int NOT NULL,
    at timestamptz NOT NULL,
    state text NOT NULL,  -- of the item; ready is not told
    status text,  -- of its lifecycle, as that was then; NULL: it has none, or it is its job's from here on
    reason text,
    batch_id bigint,  -- of the job that it became after it; NULL: of none yet
    job_id int,
    repeats int NOT NULL DEFAULT 0,  -- of a job: this number of its first statuses the item has had
    PRIMARY KEY (source_id, n, change_id),
    FOREIGN KEY (source_id, n) REFERENCES weft.source_item ON DELETE CASCADE
);
CREATE INDEX source_item_change_job_idx ON weft.source_item_change (batch_id, job_id) WHERE batch_id
    IS NOT NULL;
CREATE INDEX source_item_change_at_idx ON weft.source_item_change USING brin (at);

-- Every change of a state is dated, wherever it is made.
CREATE FUNCTION weft._follow_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._note_item(NEW);
    RETURN NULL;
END $$;
CREATE TRIGGER item_begins AFTER INSERT ON weft.source_item FOR EACH ROW EXECUTE FUNCTION weft._follow_item();
CREATE TRIGGER item_changes AFTER UPDATE OF state ON weft.source_item FOR EACH ROW
    WHEN (new.state <> old.state AND new.state <> 'ready') EXECUTE FUNCTION weft._follow_item();
