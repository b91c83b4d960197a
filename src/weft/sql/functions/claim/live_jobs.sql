-- live_jobs: numbers of a batch's jobs that workers have claimed, in order: all that run, and some that have ended since a heartbeat.
-- Called by: statements of weft.store.query_sql.   Safe to repeat: yes, it only reads.
-- Plan: all claims, of which there are few: a heartbeat leaves one of each batch that its worker has.
-- Returns: nothing for a batch of another tenant than the one that the transaction has named.
-- Owner: weft_system.  Granted to: weft_api, weft_driver.
CREATE OR REPLACE FUNCTION weft.live_jobs(of_batch_id bigint, first_job bigint, last_job bigint) RETURNS SETOF int
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT DISTINCT x FROM weft.batch b JOIN weft.claim c ON c.batch_id = b.batch_id CROSS JOIN unnest(c.jobs) x
    WHERE b.batch_id = of_batch_id AND b.tenant_id = current_setting('weft.tenant')::int
        AND x BETWEEN live_jobs.first_job AND live_jobs.last_job
    ORDER BY x
$$;
