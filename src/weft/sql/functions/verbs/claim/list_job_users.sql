-- list_job_users: for each of these jobs the owner of its batch, and the user who submitted it.
-- Plan: jobs, batches, updates and users by key.
-- Returns: one row per job, in no fixed order; none for a job that is gone.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_job_users(batch_ids bigint[], job_ids int[])
RETURNS TABLE (batch_id bigint, job_id int, tenant_id int, owner_id int, tenant text, submitter text)
LANGUAGE sql STABLE AS $$
    SELECT w.batch_id, w.job_id, f.tenant_id, f.owner_id, f.tenant, f.submitter
    FROM unnest(list_job_users.batch_ids, list_job_users.job_ids) w (batch_id, job_id)
    CROSS JOIN LATERAL (
        SELECT b.tenant_id, b.user_id AS owner_id, t.name AS tenant, s.name AS submitter
        FROM weft.job j
        JOIN weft.batch b ON b.batch_id = j.batch_id
        JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
        JOIN weft.tenant t ON t.tenant_id = b.tenant_id
        JOIN weft.tenant_user s ON s.user_id = u.user_id
        WHERE j.batch_id = w.batch_id AND j.job_id = w.job_id
        OFFSET 0
    ) f
$$;
