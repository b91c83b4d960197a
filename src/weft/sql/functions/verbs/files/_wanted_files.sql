-- _wanted_files: files that a job is to get. Each is one of a job (a batch and a job, or a job of its own
--   batch, or the name of a parent of it), or of the batch itself (job 0), which may be an output of any job
--   that has ended. Of another batch, which is of the same tenant, the user who submitted the job must be
--   able to read it.
-- For: find_files, _find_unchanged.
-- Safe to repeat: yes, it only reads.
-- Plan: jobs, batches and files by key; parents by the child.
-- Returns: one row per file wanted, in their order: `n_bytes` is NULL if there is none; `state`: of the job
--   that was to leave it.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._wanted_files(
    of_batch_id bigint,
    of_job_id int,
    of_user_id int,
    of_batches bigint[],
    of_jobs int[],
    of_parents text[],
    paths text[]
) RETURNS TABLE (from_batch bigint, state smallint, n_bytes bigint, digest bytea, kept_in text)
LANGUAGE plpgsql AS $$
DECLARE
    v_tenant int := (SELECT b.tenant_id FROM weft.batch b WHERE b.batch_id = of_batch_id);
    v_caller text := coalesce(current_setting('weft.user', true), '');
BEGIN
    PERFORM set_config('weft.user', of_user_id::text, true);  -- for _permission
    RETURN QUERY
    SELECT coalesce(f.from_batch, b.batch_id), p.state, f.n_bytes, f.digest, f.address
    FROM unnest(
        _wanted_files.of_batches, _wanted_files.of_jobs, _wanted_files.of_parents, _wanted_files.paths
    ) WITH ORDINALITY w (of_batch, of_job, of_parent, path, n)
    LEFT JOIN LATERAL (
        SELECT b.batch_id
        FROM weft.batch b
        WHERE b.batch_id = coalesce(w.of_batch, of_batch_id)
            AND b.tenant_id = v_tenant
            AND b.deleted_at IS NULL
            AND (b.batch_id = of_batch_id OR weft._permission(b.batch_id, b.user_id, b.project_id) > 0)
        OFFSET 0
    ) b ON true
    LEFT JOIN LATERAL (
        SELECT j.job_id, j.state, j.attempt
        FROM weft.job j
        WHERE j.batch_id = b.batch_id AND j.job_id = w.of_job AND w.of_job > 0
        UNION ALL
        SELECT j.job_id, j.state, j.attempt
        FROM weft.edge e
        JOIN weft.job_label l ON l.batch_id = e.batch_id AND l.job_id = e.parent_id AND l.name = w.of_parent
        JOIN weft.job j ON j.batch_id = e.batch_id AND j.job_id = e.parent_id
        WHERE e.batch_id = b.batch_id
            AND e.child_id = of_job_id
            AND w.of_parent IS NOT NULL
            AND EXISTS (
                SELECT
                FROM weft.job_file x
                WHERE x.batch_id = j.batch_id
                    AND x.job_id = j.job_id
                    AND x.attempt = j.attempt
                    AND x.path = w.path
            )
        LIMIT 1
        OFFSET 0
    ) p ON true
    LEFT JOIN LATERAL (
        SELECT x.n_bytes, x.digest, x.address, x.from_batch
        FROM weft.job_file x
        WHERE x.batch_id = b.batch_id
            AND x.job_id = p.job_id
            AND x.attempt = p.attempt
            AND x.path = w.path
            AND p.state >= STATE_SUCCESS
        UNION ALL (
            SELECT x.n_bytes, x.digest, x.address, x.from_batch
            FROM weft.job_file x
            WHERE x.batch_id = b.batch_id
                AND x.path = w.path
                AND w.of_job = 0
                AND w.of_parent IS NULL
                AND (
                    x.job_id = 0
                        OR EXISTS (
                            SELECT
                            FROM weft.job j
                            WHERE j.batch_id = x.batch_id
                                AND j.job_id = x.job_id
                                AND j.attempt = x.attempt
                                AND j.state >= STATE_SUCCESS
                        )
                )
            ORDER BY x.job_id = 0 DESC, x.kept_at DESC, x.job_id DESC
        )
        LIMIT 1
    ) f ON f.from_batch IS NULL
        OR weft._why_gone(f.from_batch) IS NULL
    ORDER BY w.n;
    PERFORM set_config('weft.user', v_caller, true);
END $$;
