-- list_jobs: documents of a batch's committed jobs, with numbers above `after`, in order; only in these
--   states, if any are given.
-- Safe to repeat: yes, it only reads.
-- Plan: jobs by key from `after` on.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_jobs(
    tenant_id int, batch_id bigint, after int, limit_rows int, states smallint[]
) RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_ids int[];
BEGIN
    PERFORM weft._check_batch(list_jobs.batch_id);
    SELECT array_agg(x.job_id)
    INTO v_ids
    FROM (
        SELECT j.job_id
        FROM weft.job j
        WHERE j.batch_id = list_jobs.batch_id
            AND j.job_id > list_jobs.after
            AND (cardinality(list_jobs.states) = 0 OR j.state = ANY (list_jobs.states))
            -- No join: it could begin with the update, and then all of its jobs would be read and sorted.
            AND (
                SELECT u.committed_at IS NOT NULL
                FROM weft.batch_update u
                WHERE u.batch_id = j.batch_id AND u.update_id = j.update_id
            )
        ORDER BY j.job_id
        LIMIT limit_rows
    ) x;
    RETURN QUERY SELECT d.document FROM weft._job_documents(list_jobs.batch_id, v_ids) d ORDER BY d.job_id;
END $$;
