-- _is_late: whether a job can no longer end by its deadline.
-- For: _before_offer, _block_jobs, _find_retried; only where there are deadlines.
-- Plan: the row before the job by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._is_late(of_batch_id bigint, of_job_id int, at timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT d.last_job >= of_job_id AND d.latest_start <= _is_late.at AND d.timeout IS NULL
    FROM weft.job_deadline d
    WHERE d.batch_id = of_batch_id AND d.first_job <= of_job_id
    ORDER BY d.first_job DESC
    LIMIT 1
$$;
