-- _permission_on_jobs: what the caller of this transaction may do with each of these jobs of a batch, as a
--   PERMISSION: what they may do with the batch, or what they were granted on all of these jobs, if that is
--   more; 0: they do not exist for them.
-- Plan: as _permission; grants by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._permission_on_jobs(
    of_batch_id bigint, of_user_id int, of_project_id int, of_job_ids int[]
) RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_permission int := weft._permission(of_batch_id, of_user_id, of_project_id);
BEGIN
    IF v_permission = PERMISSION_ALL THEN
        RETURN v_permission;
    END IF;
    RETURN greatest(
        v_permission,
        (
            SELECT min(coalesce(g.permission, 0))
            FROM unnest(of_job_ids) t
            LEFT JOIN LATERAL (
                SELECT x.permission
                FROM weft.batch_grant x
                WHERE x.batch_id = of_batch_id AND x.job_id = t AND x.user_id = weft._caller_id()
                OFFSET 0
            ) g ON true
        )
    );
END $$;
