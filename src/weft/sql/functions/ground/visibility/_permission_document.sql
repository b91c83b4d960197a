-- _permission_document: what a user may do with a batch because it is theirs or was shared with them, or with
--   a job of it likewise; `permission` is null: neither.
-- Plan: by key.
-- of_job_id: 0: the whole batch.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._permission_document(of_batch_id bigint, of_job_id int, of_user_id int)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'batch_id', of_batch_id,
        'user_id', u.user_id,
        'user', u.name,
        'permission', CASE WHEN b.user_id = u.user_id THEN 'all' ELSE weft._permission_word(g.permission) END,
        'granted_by', g.granted_by,
        'granted_at', g.granted_at
    ) || CASE of_job_id WHEN 0 THEN '{}' ELSE jsonb_build_object('job_id', of_job_id) END
    FROM weft.tenant_user u
    CROSS JOIN LATERAL (SELECT x.user_id FROM weft.batch x WHERE x.batch_id = of_batch_id OFFSET 0) b
    LEFT JOIN weft.batch_grant g ON g.batch_id = of_batch_id
        AND g.job_id = of_job_id
        AND g.user_id = u.user_id
    WHERE u.user_id = of_user_id
$$;
