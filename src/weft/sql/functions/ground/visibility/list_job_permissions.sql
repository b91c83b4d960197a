-- list_job_permissions: with whom one job is shared, and what they may do, in the order of user numbers after
--   one. Those with whom its batch is shared are not in the list.
-- Safe to repeat: yes, it only reads.
-- Plan: by key, a page.
-- Raises WF101, WF102.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_job_permissions(
    tenant_id int, batch_id bigint, job_id int, after int, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_job(list_job_permissions.batch_id, list_job_permissions.job_id);
    RETURN QUERY
    SELECT weft._permission_document(g.batch_id, g.job_id, g.user_id)
    FROM weft.batch_grant g
    WHERE g.batch_id = list_job_permissions.batch_id
        AND g.job_id = list_job_permissions.job_id
        AND g.user_id > after
    ORDER BY g.user_id
    LIMIT limit_rows;
END $$;
