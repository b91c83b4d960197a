-- get_specs: compressed specs of a batch, by the first jobs of their chunks, for its tenant.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_specs(tenant_id int, of_batch_id bigint, first_jobs int[])
RETURNS TABLE (first_job int, body bytea) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_batch(of_batch_id);
    RETURN QUERY
    SELECT s.first_job, s.body
    FROM unnest(first_jobs) f
    JOIN weft.job_spec s ON s.batch_id = of_batch_id AND s.first_job = f;
END $$;
