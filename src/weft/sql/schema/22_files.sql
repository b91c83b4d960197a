-- Files of jobs (ADR 100): what they are called, how long they are, and where they are kept.

-- Job 0 stands for the batch itself. A file is kept by the api under its digest, or at an address.
CREATE TABLE weft.job_file (
    batch_id bigint NOT NULL,
    job_id int NOT NULL CHECK (job_id >= 0),
    attempt smallint NOT NULL,
    path text NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 1024),
    tenant_id int NOT NULL,
    n_bytes bigint NOT NULL CHECK (n_bytes >= 0),
    digest bytea NOT NULL CHECK (length(digest) = 32),
    address text CHECK (length(address) <= 4096),  -- NULL: the api keeps it
    kept_at timestamptz NOT NULL,
    -- what it says to the sink of its batch; NULL: nothing
    message text CHECK (octet_length(message) <= 65536),
    -- The batch among whose files the api keeps it: that of the job whose outputs this one has. NULL: its
    -- own.
    from_batch bigint,
    PRIMARY KEY (batch_id, job_id, attempt, path)
);
CREATE INDEX job_file_path_idx ON weft.job_file (batch_id, path);

-- How long attempts waited for their files, before they started and after they ended.
CREATE TABLE weft.attempt_staging (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    attempt smallint NOT NULL,
    tenant_id int NOT NULL,
    staging_ms int NOT NULL CHECK (staging_ms >= 0),
    storing_ms int NOT NULL CHECK (storing_ms >= 0),
    PRIMARY KEY (batch_id, job_id, attempt)
);

-- Batches whose output and files are kept for a time of their own, or were removed while the batch stays (ADR
-- 140).
CREATE TABLE weft.output_term (
    batch_id bigint PRIMARY KEY,
    tenant_id int NOT NULL,
    keep_s bigint CHECK (keep_s > 0),  -- after its end; NULL: as its tenant says
    n_jobs bigint,  -- that say so: it holds if all of the batch do; NULL: it is said of the batch
    removed_at timestamptz,  -- what was kept before is gone; NULL: nothing was removed
    why text CHECK (length(why) <= 200),
    n_bytes bigint NOT NULL DEFAULT 0  -- of what was removed, which counts no more
);
CREATE INDEX output_term_own_idx ON weft.output_term (batch_id) WHERE keep_s IS NOT NULL AND removed_at
    IS NULL;

-- Jobs that need not run if the same has succeeded before (`cache`), and whose outputs they have then.
CREATE TABLE weft.job_cache (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    spec_key bytea NOT NULL,  -- the digest of what runs
    wants jsonb,  -- files of jobs that it gets
    -- the digest of that, of who submitted it and of those files; NULL: not ready yet, or one is missing
    key bytea,
    from_batch bigint,  -- the job that succeeded with this key; NULL: there is none, and it runs
    from_job int,
    PRIMARY KEY (batch_id, job_id)
);
CREATE INDEX job_cache_key_idx ON weft.job_cache (key, batch_id, job_id) WHERE from_batch IS NULL AND key
    IS NOT NULL;
