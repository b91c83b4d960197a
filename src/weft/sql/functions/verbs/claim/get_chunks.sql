-- get_chunks: the compressed specs of these chunks.
-- Plan: by key.
-- Owner: weft_system.
-- Granted to: weft_worker, weft_driver.
CREATE OR REPLACE FUNCTION weft.get_chunks(batch_ids bigint[], first_jobs int[])
RETURNS TABLE (batch_id bigint, first_job int, body bytea) LANGUAGE sql STABLE AS $$
    SELECT t.b, t.f, s.body
    FROM unnest(get_chunks.batch_ids, get_chunks.first_jobs) t (b, f)
    CROSS JOIN LATERAL (
        SELECT x.body FROM weft.job_spec x WHERE x.batch_id = t.b AND x.first_job = t.f OFFSET 0
    ) s
$$;
