-- list_run_at: which of these jobs have an attempt of a worker whose output is at this place. Output in the
--   spool says itself whose it is.
-- Plan: jobs, attempts and incarnations by key.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_run_at(log_place text, batch_ids bigint[], job_ids int[])
RETURNS TABLE (batch_id bigint, job_id int) LANGUAGE sql STABLE AS $$
    SELECT t.b, t.j
    FROM unnest(list_run_at.batch_ids, list_run_at.job_ids) t (b, j)
    CROSS JOIN LATERAL (
        SELECT
        FROM (
            SELECT y.incarnation_id
            FROM weft.job y
            WHERE y.batch_id = t.b AND y.job_id = t.j AND y.incarnation_id IS NOT NULL
            UNION ALL
            SELECT a.incarnation_id
            FROM weft.attempt a
            WHERE a.batch_id = t.b AND a.job_id = t.j
        ) x
        JOIN weft.worker_incarnation i
        USING (incarnation_id)
        WHERE i.log_place = list_run_at.log_place
        LIMIT 1
    ) f
$$;
