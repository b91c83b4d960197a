-- _live_attempts: attempts that an incarnation has claimed and that have not ended.
-- Plan: its claims by key, then jobs by key. Nearly all have ended: where claimed jobs lie close together, as
--   in a range, that stretch of the key is read, at a seventh of the cost of looking up each job. A fast
--   worker claims half a million jobs between two heartbeats.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._live_attempts(of_incarnation_id int) RETURNS SETOF weft.job
LANGUAGE sql STABLE ROWS 1000 SET search_path = pg_catalog, pg_temp PLAN_BY_KEY AS $$
    WITH part AS MATERIALIZED (
        SELECT
            c.batch_id,
            c.jobs,
            r.first_job,
            r.last_job,
            r.last_job - r.first_job < 4 * cardinality(c.jobs) AS is_dense
        FROM weft.claim c
        CROSS JOIN LATERAL (SELECT min(x) AS first_job, max(x) AS last_job FROM unnest(c.jobs) x) r
        WHERE c.incarnation_id = of_incarnation_id
    )
    SELECT DISTINCT ON (t.batch_id, t.job_id) t.*
    FROM (  -- a job that was claimed again stands in two claims
        SELECT j.*
        FROM part p
        CROSS JOIN LATERAL (
            SELECT y.*
            FROM weft.job y
            WHERE y.batch_id = p.batch_id
                AND y.job_id BETWEEN p.first_job AND p.last_job
                AND y.state = STATE_RUNNING
                AND y.incarnation_id = of_incarnation_id
            OFFSET 0
        ) j
        WHERE p.is_dense
        UNION ALL
        SELECT j.*
        FROM part p
        CROSS JOIN unnest(p.jobs) x
        CROSS JOIN LATERAL (
            SELECT y.* FROM weft.job y WHERE y.batch_id = p.batch_id AND y.job_id = x OFFSET 0
        ) j
        WHERE NOT p.is_dense AND j.state = STATE_RUNNING AND j.incarnation_id = of_incarnation_id
    ) t
$$;
