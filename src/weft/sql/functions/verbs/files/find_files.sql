-- find_files: files that a live attempt is to get, as _wanted_files.
-- Safe to repeat: yes, it only reads.
-- Plan: the job and its update by key; as _wanted_files.
-- Returns: as _wanted_files; no row if this worker does not have the attempt.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.find_files(
    incarnation_id int,
    batch_id bigint,
    job_id int,
    attempt int,
    of_batches bigint[],
    of_jobs int[],
    of_parents text[],
    paths text[]
) RETURNS TABLE (from_batch bigint, state smallint, n_bytes bigint, digest bytea, kept_in text)
LANGUAGE plpgsql AS $$
DECLARE
    v_user int;
BEGIN
    SELECT u.user_id
    INTO v_user
    FROM weft.job j
    JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
    WHERE j.batch_id = find_files.batch_id
        AND j.job_id = find_files.job_id
        AND j.attempt = find_files.attempt
        AND j.state = STATE_RUNNING
        AND j.incarnation_id = find_files.incarnation_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT *
    FROM weft._wanted_files(
        find_files.batch_id,
        find_files.job_id,
        v_user,
        find_files.of_batches,
        find_files.of_jobs,
        find_files.of_parents,
        find_files.paths
    );
END $$;
