-- Attempts, who has them, and what is told to them.

-- Attempts that have ended. A live one stands in its job's row.
-- No CHECK on the two hot tables: PostgreSQL parses each again for every statement, a fifth of a call for 20
-- jobs (docs/performance.md); the audit looks at what they would have refused.
CREATE TABLE weft.attempt (
    batch_id bigint NOT NULL,
    claimed_at timestamptz NOT NULL,
    started_at timestamptz,  -- NULL: it never ran
    ended_at timestamptz NOT NULL,
    cpu_ms bigint NOT NULL,
    memory_peak_bytes bigint NOT NULL,
    stdout_bytes bigint NOT NULL,
    stderr_bytes bigint NOT NULL,
    log_offset bigint,  -- within its segment
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    incarnation_id int NOT NULL,
    shape_id int NOT NULL,
    exit_code int,
    log_segment int,  -- NULL: a file of its own, if it wrote anything
    attempt smallint NOT NULL,
    state smallint NOT NULL,  -- of the job after it
    reason smallint,  -- NULL: success
    signal smallint,
    rate_card_id smallint NOT NULL,
    truncated boolean NOT NULL,
    message text,
    PRIMARY KEY (batch_id, job_id, attempt)
) WITH (autovacuum_vacuum_cost_delay = 2, autovacuum_vacuum_cost_limit = 1000);
-- Failures: every job that failed or errored has such an attempt (audit: failures_have_attempts). A
-- completion without one does not touch it.
CREATE INDEX attempt_failure_idx ON weft.attempt (batch_id, job_id) WHERE reason IS NOT NULL;
ROWS_OF_QUERIES weft.attempt;

-- What each claim call took. A heartbeat replaces an incarnation's rows by one with what is still live, so a
-- lost worker's attempts are found without an index on the hot row.
CREATE TABLE weft.claim (
    incarnation_id int NOT NULL,
    claim_id bigint GENERATED ALWAYS AS IDENTITY,
    batch_id bigint NOT NULL,
    jobs int[] NOT NULL,
    -- A worker numbers its claims and says at its heartbeats of which it has heard: what it does not hold of
    -- those has ended, and need not be looked up. NULL: of a worker that does not number them, or written by
    -- a heartbeat.
    call bigint,
    lane_id int,  -- of its jobs
    PRIMARY KEY (incarnation_id, claim_id)
);
ALTER TABLE weft.claim ALTER COLUMN jobs SET STORAGE EXTERNAL;

-- Attempts that a limit of their queue watches (ADR 46). Written by heartbeats, so jobs that end before the
-- next one are never here.
CREATE TABLE weft.attempt_watch (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    attempt smallint NOT NULL,
    tenant_id int NOT NULL,
    incarnation_id int NOT NULL,
    phase smallint NOT NULL,
    since timestamptz NOT NULL,  -- it is in this phase
    silent_since timestamptz,  -- its worker does not name it any more; NULL: it does
    due_at timestamptz,  -- when it is beyond a limit; NULL: it has none now
    PRIMARY KEY (batch_id, job_id)
);
CREATE INDEX attempt_watch_due_at_idx ON weft.attempt_watch (due_at);
CREATE INDEX attempt_watch_incarnation_id_idx ON weft.attempt_watch (incarnation_id);

-- What an engine elsewhere says of an attempt in each of its phases: why it waits, then where it runs; and
-- where the worker copies its outputs to. In phase 0: what the job says itself, how far it is.
CREATE TABLE weft.attempt_note (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    attempt smallint NOT NULL,
    phase smallint NOT NULL,
    tenant_id int NOT NULL,
    at timestamptz NOT NULL,  -- since when it says this
    message text NOT NULL,
    percent real,
    PRIMARY KEY (batch_id, job_id, attempt, phase),
    CONSTRAINT attempt_note_is_short CHECK (length(message) <= 300 AND (message <> '' OR phase = 0)),
    CONSTRAINT attempt_note_is_progress
        CHECK ((phase = 0) = (percent IS NOT NULL) AND percent BETWEEN 0 AND 100)
);
CREATE INDEX attempt_note_progress_idx ON weft.attempt_note (batch_id, at) WHERE phase = 0;

-- What running jobs say about themselves, for people: the newest of each title, whatever attempt said it.
CREATE TABLE weft.job_note (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    title text NOT NULL,
    tenant_id int NOT NULL,
    attempt smallint NOT NULL,
    kind text NOT NULL,
    told_at timestamptz NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (batch_id, job_id, title),
    CONSTRAINT job_note_is_short CHECK (length(title) BETWEEN 1 AND 60 AND octet_length(body) <= 1048576)
);

-- Attempts that the driver has ended, and whose processes may still be there.
CREATE TABLE weft.attempt_stop (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    attempt smallint NOT NULL,
    tenant_id int NOT NULL,
    incarnation_id int NOT NULL,
    final boolean NOT NULL,  -- its job has ended
    gone boolean NOT NULL DEFAULT false,  -- the worker has stopped it, or is gone itself
    -- when the driver looks at it: once it is gone; else then its worker is given up
    due_at timestamptz NOT NULL,
    PRIMARY KEY (batch_id, job_id, attempt)
);
CREATE INDEX attempt_stop_due_at_idx ON weft.attempt_stop (due_at);
CREATE INDEX attempt_stop_incarnation_id_idx ON weft.attempt_stop (incarnation_id);

-- What running attempts are told. A signal is removed when it is acknowledged; the extension of a job stays
-- until that has ended.
CREATE TABLE weft.job_command (
    command_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    attempt smallint,  -- to which a signal goes; which was told of the extension last
    incarnation_id int,  -- which has the attempt of a signal
    signal smallint,
    word text,  -- the name of the signal
    extend_ms bigint,  -- by how much longer each attempt may run
    actor text NOT NULL,
    at timestamptz NOT NULL,
    message text,  -- becomes a file that the job may read; removed when it is acknowledged
    CONSTRAINT job_command_is_one CHECK (num_nonnulls(signal, extend_ms, message) = 1),
    CONSTRAINT job_command_has_attempt
        CHECK (extend_ms IS NOT NULL OR attempt IS NOT NULL AND incarnation_id IS NOT NULL)
);
CREATE INDEX job_command_batch_id_job_id_idx ON weft.job_command (batch_id, job_id);
CREATE UNIQUE INDEX job_command_extension_idx ON weft.job_command (batch_id, job_id) WHERE extend_ms
    IS NOT NULL;
