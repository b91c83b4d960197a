-- _last_run: the last attempt of a job that had started; 0: none had. A claim that was handed back is no run.
-- Plan: its attempts by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._last_run(of_batch_id bigint, of_job_id int) RETURNS smallint
LANGUAGE sql STABLE AS $$
    SELECT coalesce(max(a.attempt), 0::smallint)
    FROM weft.attempt a
    WHERE a.batch_id = of_batch_id AND a.job_id = of_job_id AND a.started_at IS NOT NULL
$$;
