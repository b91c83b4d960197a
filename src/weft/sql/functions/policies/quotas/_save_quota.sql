-- _save_quota: change the quotas of one row; a row without any goes. A first one of cores is to reach the
--   jobs that are there (core_sweep).
-- Safe to repeat: yes.
-- Plan: by key.
-- Locks: quotas (submissions under way end first, and others wait for us); quota; as _begin_core_sweep.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._save_quota(of_tenant_id int, of_user_id int, patch jsonb) RETURNS void
LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(7706, of_tenant_id);
    INSERT INTO weft.quota AS q (tenant_id, user_id, jobs_max, batches_max, cores_max_m, bytes_max)
    VALUES (
        of_tenant_id,
        of_user_id,
        (patch ->> 'jobs')::bigint,
        (patch ->> 'batches')::bigint,
        round((patch ->> 'cores')::numeric * 1000)::bigint,
        (patch ->> 'bytes')::bigint
    )
    ON CONFLICT (tenant_id, user_id) DO UPDATE
    SET
        jobs_max = CASE WHEN patch ? 'jobs' THEN excluded.jobs_max ELSE q.jobs_max END,
        batches_max = CASE WHEN patch ? 'batches' THEN excluded.batches_max ELSE q.batches_max END,
        cores_max_m = CASE WHEN patch ? 'cores' THEN excluded.cores_max_m ELSE q.cores_max_m END,
        bytes_max = CASE WHEN patch ? 'bytes' THEN excluded.bytes_max ELSE q.bytes_max END;
    DELETE FROM weft.quota q
    WHERE q.tenant_id = of_tenant_id
        AND q.user_id = of_user_id
        AND q.jobs_max IS NULL
        AND q.batches_max IS NULL
        AND q.cores_max_m IS NULL
        AND q.bytes_max IS NULL;
    SELECT weft._begin_core_sweep(of_tenant_id, of_user_id)
$$;
