-- _permission: what the caller of this transaction may do with a batch, as a PERMISSION; 0: the batch does
--   not exist for them. Its owner, members of its billing project, and who sees the tenant may do all; others
--   what they were granted. Nothing else decides this, and _permission_on_jobs adds what was granted on
--   single jobs.
-- Plan: members and grants by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._permission(of_batch_id bigint, of_user_id int, of_project_id int) RETURNS int
LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- as _caller_id, which would cost a call
    v_caller int := nullif(current_setting('weft.user', true), '')::int;
BEGIN
    IF v_caller IS NULL OR v_caller = of_user_id THEN
        RETURN PERMISSION_ALL;
    ELSIF EXISTS (
        SELECT FROM weft.billing_member m WHERE m.project_id = of_project_id AND m.user_id = v_caller
    ) THEN
        RETURN PERMISSION_ALL;
    END IF;
    RETURN coalesce(
        (
            SELECT g.permission
            FROM weft.batch_grant g
            WHERE g.batch_id = of_batch_id AND g.job_id = 0 AND g.user_id = v_caller
        ),
        0
    );
END $$;
