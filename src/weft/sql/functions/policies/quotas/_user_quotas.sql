-- _user_quotas: the limits of a user: what their own row does not say, the row for each user says.
-- Plan: quotas by key.
-- Returns: one row; NULL: no limit.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._user_quotas(of_tenant_id int, of_user_id int)
RETURNS TABLE (jobs_max bigint, batches_max bigint, cores_max_m bigint, bytes_max bigint)
LANGUAGE sql STABLE AS $$
    SELECT
        coalesce(max(q.jobs_max) FILTER (WHERE q.user_id > 0), max(q.jobs_max)),
        coalesce(max(q.batches_max) FILTER (WHERE q.user_id > 0), max(q.batches_max)),
        coalesce(max(q.cores_max_m) FILTER (WHERE q.user_id > 0), max(q.cores_max_m)),
        coalesce(max(q.bytes_max) FILTER (WHERE q.user_id > 0), max(q.bytes_max))
    FROM weft.quota q
    WHERE q.tenant_id = of_tenant_id AND q.user_id IN (0, of_user_id)
$$;
