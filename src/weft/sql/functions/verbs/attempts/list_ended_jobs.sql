-- list_ended_jobs: which of these jobs have ended or are gone: whoever keeps something for their next
--   attempts may remove it.
-- Plan: jobs by key.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_ended_jobs(batch_ids bigint[], job_ids int[])
RETURNS TABLE (batch_id bigint, job_id int) LANGUAGE sql STABLE AS $$
    SELECT t.b, t.j
    FROM unnest(list_ended_jobs.batch_ids, list_ended_jobs.job_ids) t (b, j)
    LEFT JOIN LATERAL (SELECT y.state FROM weft.job y WHERE y.batch_id = t.b AND y.job_id = t.j OFFSET 0) j
        ON true
    WHERE j.state IS NULL OR j.state IN (STATE_SUCCESS, STATE_FAILED, STATE_ERROR, STATE_CANCELLED)
$$;
