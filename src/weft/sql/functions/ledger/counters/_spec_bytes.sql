-- _spec_bytes: how much the specs of the jobs of an update take, of those that were not counted when they
--   were sent.
-- Plan: bunches of the update by key; of those that were not counted, specs by key, one for each
--   chunk of jobs.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._spec_bytes(of_update weft.batch_update) RETURNS TABLE (n_bytes bigint)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(s.n_bytes), 0)::bigint
    FROM weft.bunch x
    CROSS JOIN LATERAL (
        SELECT sum(octet_length(p.body)) AS n_bytes
        FROM weft.job_spec p
        WHERE p.batch_id = x.batch_id AND p.first_job >= x.first_job AND p.first_job < x.first_job + x.n_jobs
        OFFSET 0
    ) s
    WHERE x.batch_id = of_update.batch_id AND x.update_id = of_update.update_id AND x.n_bytes IS NULL
$$;
