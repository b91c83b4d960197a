-- find_file: a file that an attempt of a job has left, and in which folder files of this database are kept;
--   without an attempt, of the last one that left it.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101, WF102.
-- Returns: no row if there is no such file.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.find_file(
    tenant_id int, batch_id bigint, job_id int, of_attempt int, of_path text
) RETURNS TABLE (
    attempt smallint, n_bytes bigint, digest bytea, kept_in text, folder text, why_gone text, of_batch bigint
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_job(find_file.batch_id, find_file.job_id);
    RETURN QUERY
    SELECT
        f.attempt,
        f.n_bytes,
        f.digest,
        f.address,
        replace(weft.database_id()::text, '-', ''),
        coalesce(
            weft._why_gone(f.from_batch),
            (
                SELECT o.why
                FROM weft.output_term o
                WHERE o.batch_id = f.batch_id AND f.kept_at <= o.removed_at AND f.address IS NULL
            )
        ),
        coalesce(f.from_batch, f.batch_id)
    FROM weft.job_file f
    WHERE f.batch_id = find_file.batch_id
        AND f.job_id = find_file.job_id
        AND f.path = find_file.of_path
        AND (find_file.of_attempt IS NULL OR f.attempt = find_file.of_attempt)
    ORDER BY f.attempt DESC
    LIMIT 1;
END $$;
