-- _is_preemptible: whether a job says that it may be stopped and run again, and its `retry_with` (bit 21 of
--   retry_on) has not ended that.
-- Plan: by key; as _more_steps.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._is_preemptible(job weft.job) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (
            SELECT l.rare_fields
            FROM weft.job_label l
            WHERE l.batch_id = job.batch_id AND l.job_id = job.job_id
        ),
        (
            SELECT a.rare_fields
            FROM weft.job_array a
            WHERE a.batch_id = job.batch_id AND a.first_job = job.spec_first
        )
    ) @> '{"preemptible": true}' IS TRUE
        AND (
            job.retry_on & 2097152 = 0
                OR NOT (
                    SELECT weft._stays_by_rule(
                        r.rules, weft._more_steps(r.rules, job.batch_id, job.job_id, job.attempt)
                    )
                    FROM (
                        SELECT weft._rare_field(job.batch_id, job.job_id, job.spec_first, 'more') AS rules
                        OFFSET 0
                    ) r
                )
        )
$$;
