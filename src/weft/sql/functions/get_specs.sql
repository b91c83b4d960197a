-- get_specs: for these jobs, the chunk and the place in it that hold their spec.
-- Called by: Store.get_specs (api).   Safe to repeat: yes, it only reads.   Plan: by key.   Raises WF101.
-- Returns: a row per job with the chunk's first job, and each chunk's body once, with its first job.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_specs(tenant_id int, batch_id bigint, job_ids int[]) RETURNS TABLE (job_id int, spec_first int, body bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM weft._as_tenant(get_specs.tenant_id);
    PERFORM weft._check_batch(get_specs.batch_id);
    RETURN QUERY
    SELECT j.job_id, j.spec_first, CASE WHEN j.job_id = min(j.job_id) OVER (PARTITION BY j.spec_first) THEN s.body END
    FROM unnest(get_specs.job_ids) t
    JOIN weft.job j ON j.batch_id = get_specs.batch_id AND j.job_id = t
    JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id AND u.committed_at IS NOT NULL
    JOIN weft.job_spec s ON s.batch_id = j.batch_id AND s.first_job = j.spec_first
    ORDER BY j.job_id;
END $$;
