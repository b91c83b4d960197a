-- _jobs_that_fit: how many jobs of the size of an offer's first one fit into a budget, at least 1.
-- For: claim_jobs, for workers that slept: others were woken together with them, and must not meet all jobs
--   locked.
-- Plan: the job by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._jobs_that_fit(
    offer weft.offer, budget_cpu_m bigint, budget_memory_mib bigint
) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT greatest(
        1, least(budget_cpu_m / greatest(j.cpu_m, 1), budget_memory_mib / nullif(j.memory_mib, 0), 2147483647)
    )::int
    FROM weft.job j
    WHERE j.batch_id = offer.batch_id AND j.job_id = offer.low_job
$$;
