-- find_files: files that a live attempt is to get. Each is one of a job (a batch and a job, or a job of its own batch, or the name of a
--   parent of it), or of the batch itself (job 0), which may be an output of any job that has ended.
--   Of another batch, which is of the same tenant, the user who submitted the job must be able to read it.
-- Safe to repeat: yes, it only reads.   Plan: jobs, batches, updates and files by key; parents by the child.
-- Returns: one row per file wanted, in their order: `n_bytes` is NULL if there is none; `state`: of the job that was to leave it. No row
--   if this worker does not have the attempt.   Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.find_files(incarnation_id int, batch_id bigint, job_id int, attempt int, of_batches bigint[], of_jobs int[],
    of_parents text[], paths text[])
RETURNS TABLE (from_batch bigint, state smallint, n_bytes bigint, digest bytea, kept_in text) LANGUAGE plpgsql AS $$
DECLARE
    v_tenant int; v_user int;
BEGIN
    SELECT j.tenant_id, u.user_id INTO v_tenant, v_user
    FROM weft.job j JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
    WHERE j.batch_id = find_files.batch_id AND j.job_id = find_files.job_id AND j.attempt = find_files.attempt
        AND j.state = STATE_RUNNING AND j.incarnation_id = find_files.incarnation_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('weft.user', v_user::text, true);  -- for _permission
    RETURN QUERY
    SELECT b.batch_id, p.state, f.n_bytes, f.digest, f.address
    FROM unnest(find_files.of_batches, find_files.of_jobs, find_files.of_parents, find_files.paths)
        WITH ORDINALITY w (of_batch, of_job, of_parent, path, n)
    LEFT JOIN LATERAL (
        SELECT b.batch_id FROM weft.batch b
        WHERE b.batch_id = coalesce(w.of_batch, find_files.batch_id) AND b.tenant_id = v_tenant AND b.deleted_at IS NULL
            AND (b.batch_id = find_files.batch_id OR weft._permission(b.batch_id, b.user_id, b.project_id) > 0)
        OFFSET 0) b ON true
    LEFT JOIN LATERAL (
        SELECT j.job_id, j.state, j.attempt FROM weft.job j
        WHERE j.batch_id = b.batch_id AND j.job_id = w.of_job AND w.of_job > 0
        UNION ALL
        SELECT j.job_id, j.state, j.attempt FROM weft.edge e
        JOIN weft.job_label l ON l.batch_id = e.batch_id AND l.job_id = e.parent_id AND l.name = w.of_parent
        JOIN weft.job j ON j.batch_id = e.batch_id AND j.job_id = e.parent_id
        WHERE e.batch_id = b.batch_id AND e.child_id = find_files.job_id AND w.of_parent IS NOT NULL AND EXISTS (
            SELECT FROM weft.job_file x WHERE x.batch_id = j.batch_id AND x.job_id = j.job_id AND x.attempt = j.attempt AND x.path = w.path)
        LIMIT 1
        OFFSET 0) p ON true
    LEFT JOIN LATERAL (
        SELECT x.n_bytes, x.digest, x.address FROM weft.job_file x
        WHERE x.batch_id = b.batch_id AND x.job_id = p.job_id AND x.attempt = p.attempt AND x.path = w.path AND p.state >= STATE_SUCCESS
        UNION ALL
        (SELECT x.n_bytes, x.digest, x.address FROM weft.job_file x
        WHERE x.batch_id = b.batch_id AND x.path = w.path AND w.of_job = 0 AND w.of_parent IS NULL AND (x.job_id = 0 OR EXISTS (
            SELECT FROM weft.job j WHERE j.batch_id = x.batch_id AND j.job_id = x.job_id AND j.attempt = x.attempt
                AND j.state >= STATE_SUCCESS))
        ORDER BY x.job_id = 0 DESC, x.kept_at DESC, x.job_id DESC)
        LIMIT 1) f ON true
    ORDER BY w.n;
END $$;
