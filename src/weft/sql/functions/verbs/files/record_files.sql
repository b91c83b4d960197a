-- record_files: note the files that a live attempt has left, and how long it waited for its files. Called
--   before its end is reported.
-- Safe to repeat: yes, what is there stays.
-- Locks: none that others wait for.
-- Plan: the job by key.
-- Returns: whether this worker has the attempt.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.record_files(
    incarnation_id int,
    batch_id bigint,
    job_id int,
    attempt int,
    staging_ms int,
    storing_ms int,
    paths text[],
    sizes bigint[],
    digests bytea[],
    stores text[],
    messages text[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_tenant int;
BEGIN
    SELECT j.tenant_id
    INTO v_tenant
    FROM weft.job j
    WHERE j.batch_id = record_files.batch_id
        AND j.job_id = record_files.job_id
        AND j.attempt = record_files.attempt
        AND j.state = STATE_RUNNING
        AND j.incarnation_id = record_files.incarnation_id;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO weft.attempt_staging (batch_id, job_id, attempt, tenant_id, staging_ms, storing_ms)
    VALUES (
        record_files.batch_id,
        record_files.job_id,
        record_files.attempt,
        v_tenant,
        greatest(record_files.staging_ms, 0),
        greatest(record_files.storing_ms, 0)
    )
    ON CONFLICT DO NOTHING;
    WITH added AS (
        INSERT INTO weft.job_file (
            batch_id, job_id, attempt, path, tenant_id, n_bytes, digest, address, kept_at, message
        )
        SELECT
            record_files.batch_id, record_files.job_id, record_files.attempt, f.path, v_tenant, f.n_bytes,
            f.digest, f.address, record_files.at, f.message
        FROM unnest(
            record_files.paths,
            record_files.sizes,
            record_files.digests,
            record_files.stores,
            record_files.messages
        ) f (path, n_bytes, digest, address, message)
        ON CONFLICT DO NOTHING
        RETURNING n_bytes, address
    )
    INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, stored_bytes)
    SELECT v_tenant, record_files.batch_id, 0, 0, 0, x.n_bytes
    FROM (SELECT weft._saturated(sum(a.n_bytes)) AS n_bytes FROM added a WHERE a.address IS NULL) x
    WHERE x.n_bytes > 0;
    RETURN true;
END $$;
