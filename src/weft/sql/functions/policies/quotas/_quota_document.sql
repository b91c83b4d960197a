-- _quota_document: what the api says of the limits of one row of quotas, also of one that is not there.
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._quota_document(kind text, name text, of_tenant_id int, of_user_id int)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'kind', _quota_document.kind, 'name', _quota_document.name, 'jobs', max(q.jobs_max),
        'batches', max(q.batches_max),
        'cores', trim_scale(max(q.cores_max_m) / 1000.0),
        'bytes', max(q.bytes_max), 'n_jobs', NULL, 'n_batches', NULL, 'n_cores', NULL, 'n_bytes', NULL
    )
    FROM weft.quota q
    WHERE q.tenant_id = of_tenant_id AND q.user_id = of_user_id
$$;
