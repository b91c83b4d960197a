-- _live_attempts: what an incarnation has claimed and not ended.
-- Called by: register_worker, heartbeat, leave, _lose_incarnation.   Safe to repeat: yes, it only reads.
-- Plan: its claims by key, then jobs by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._live_attempts(of_incarnation_id int) RETURNS SETOF weft.job LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
    SELECT j.* FROM (SELECT DISTINCT c.batch_id, x AS job_id FROM weft.claim c, unnest(c.jobs) x WHERE c.incarnation_id = of_incarnation_id) t
    CROSS JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = t.batch_id AND y.job_id = t.job_id OFFSET 0) j
    WHERE j.state = 4 AND j.incarnation_id = of_incarnation_id
$$;
