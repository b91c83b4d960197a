-- list_shared_jobs: documents of single jobs that were shared with a user, with what they may do, below a
--   position, newest batch first.
-- Safe to repeat: yes, it only reads.
-- Plan: grants of the user backwards by their index, a page; jobs by key.
-- Those of batches that are deleted are left out.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_shared_jobs(
    tenant_id int, of_user_id int, before_batch bigint, before_job int, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_BY_KEY PLAN_IN_ORDER PLAN_ONCE AS $$
BEGIN
    RETURN QUERY
    SELECT d.document || jsonb_build_object(
        'permission', weft._permission_word(g.permission),
        'granted_by', g.granted_by,
        'granted_at', g.granted_at
    )
    FROM (
        SELECT x.*
        FROM weft.batch_grant x
        CROSS JOIN LATERAL (
            SELECT FROM weft.batch y WHERE y.batch_id = x.batch_id AND y.deleted_at IS NULL OFFSET 0
        ) b
        WHERE x.user_id = of_user_id
            AND x.job_id > 0
            AND (x.user_id, x.batch_id, x.job_id) < (
                of_user_id, list_shared_jobs.before_batch, list_shared_jobs.before_job
            )
        ORDER BY x.user_id DESC, x.batch_id DESC, x.job_id DESC
        LIMIT limit_rows
    ) g
    CROSS JOIN LATERAL weft._job_documents(g.batch_id, ARRAY[g.job_id]) d
    ORDER BY g.batch_id DESC, g.job_id DESC;
END $$;
