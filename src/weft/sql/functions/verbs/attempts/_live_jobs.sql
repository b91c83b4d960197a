-- _live_jobs: what _live_attempts returns, as far as lists of workers need it: copies of ten thousand whole
--   rows cost more than to read them.
-- Plan: as _live_attempts.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._live_jobs(of_incarnation_id int) RETURNS TABLE (
    batch_id bigint, job_id int, tenant_id int, shape_id int, spec_first int, claimed_at timestamptz
) LANGUAGE sql STABLE ROWS 1000 SET search_path = pg_catalog, pg_temp PLAN_BY_KEY AS $$
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
    SELECT DISTINCT *
    FROM (
        SELECT j.*
        FROM part p
        CROSS JOIN LATERAL (
            SELECT y.batch_id, y.job_id, y.tenant_id, y.shape_id, y.spec_first, y.claimed_at
            FROM weft.job y
            WHERE y.batch_id = p.batch_id
                AND y.job_id BETWEEN p.first_job AND p.last_job
                AND y.state = STATE_RUNNING
                AND y.incarnation_id = of_incarnation_id
            OFFSET 0
        ) j
        WHERE p.is_dense
        UNION ALL
        SELECT j.batch_id, j.job_id, j.tenant_id, j.shape_id, j.spec_first, j.claimed_at
        FROM part p
        CROSS JOIN unnest(p.jobs) x
        CROSS JOIN LATERAL (
            SELECT y.* FROM weft.job y WHERE y.batch_id = p.batch_id AND y.job_id = x OFFSET 0
        ) j
        WHERE NOT p.is_dense AND j.state = STATE_RUNNING AND j.incarnation_id = of_incarnation_id
    ) t
$$;
