-- list_files: documents of the files that an attempt of a job has left, by path; without an attempt, of the
--   last one that left any.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101, WF102.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_files(
    tenant_id int, batch_id bigint, job_id int, of_attempt int, after_path text, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_job(list_files.batch_id, list_files.job_id);
    RETURN QUERY
    SELECT jsonb_build_object(
        'path', f.path,
        'attempt', f.attempt,
        'bytes', f.n_bytes,
        'sha256', encode(f.digest, 'hex'),
        'address', f.address,
        'kept_at', f.kept_at
    )
    FROM weft.job_file f
    WHERE f.batch_id = list_files.batch_id
        AND f.job_id = list_files.job_id
        AND f.attempt = coalesce(
            list_files.of_attempt,
            (
                SELECT max(x.attempt)
                FROM weft.job_file x
                WHERE x.batch_id = list_files.batch_id AND x.job_id = list_files.job_id
            )
        )
        AND (list_files.after_path IS NULL OR f.path > list_files.after_path)
        AND NOT EXISTS (
            SELECT
            FROM weft.output_term o
            WHERE o.batch_id = f.batch_id AND f.kept_at <= o.removed_at AND f.address IS NULL
        )
        AND (f.from_batch IS NULL OR weft._why_gone(f.from_batch) IS NULL)
    ORDER BY f.path
    LIMIT list_files.limit_rows;
END $$;
