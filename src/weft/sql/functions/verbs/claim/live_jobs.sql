-- live_jobs: numbers of a batch's claimed jobs, in order: all running ones, and some that have ended since
--   the last heartbeat.
-- Plan: all claims, which are few: a heartbeat leaves one for each batch of its worker.
-- Returns: no rows if the batch belongs to another tenant than the transaction's.
-- Owner: weft_system.
-- Granted to: weft_api, weft_driver.
CREATE OR REPLACE FUNCTION weft.live_jobs(of_batch_id bigint, first_job bigint, last_job bigint)
RETURNS SETOF int LANGUAGE sql STABLE AS $$
    SELECT DISTINCT x
    FROM weft.batch b
    JOIN weft.claim c ON c.batch_id = b.batch_id
    CROSS JOIN unnest(c.jobs) x
    WHERE b.batch_id = of_batch_id
        AND b.tenant_id = current_setting('weft.tenant')::int
        AND x BETWEEN live_jobs.first_job AND live_jobs.last_job
    ORDER BY x
$$;
