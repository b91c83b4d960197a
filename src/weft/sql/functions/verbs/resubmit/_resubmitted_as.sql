-- _resubmitted_as: the number of a job in the batch that was made from its own; NULL: it is not there.
-- Plan: the last span that begins up to it, by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._resubmitted_as(new_batch bigint, of_job int) RETURNS int
LANGUAGE sql STABLE AS $$
    SELECT s.first_job + of_job - s.from_job
    FROM (
        SELECT x.*
        FROM weft.resubmitted_span x
        WHERE x.batch_id = new_batch AND x.from_job <= of_job
        ORDER BY x.from_job DESC
        LIMIT 1
    ) s
    WHERE of_job < s.from_job + s.n_jobs
$$;
