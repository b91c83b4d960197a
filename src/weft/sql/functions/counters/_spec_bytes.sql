-- _spec_bytes: how much the specs of the jobs of an update take.
-- Called by: _make_visible, _check_quotas.   Safe to repeat: yes, it only reads.   Plan: specs by key, one for each chunk of jobs.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._spec_bytes(of_update weft.batch_update) RETURNS bigint LANGUAGE sql STABLE
AS $$
    SELECT coalesce(sum(octet_length(s.body)), 0)::bigint FROM weft.job_spec s
    WHERE s.batch_id = of_update.batch_id AND s.first_job >= of_update.first_job AND s.first_job < of_update.first_job + of_update.n_jobs
$$;
