-- _worker_loads: what the jobs of each of these workers have reserved, if it lives, and the first of those of
--   this tenant that the caller sees, oldest first.
-- Plan: the claims of these incarnations by key; then as _live_jobs, of those that have claimed least, as
--   long as they have claimed claimed_max jobs together, or 100 for each that was asked for; the oldest are
--   seen first.
-- Returns: no row for the others: what has claimed thousands of jobs since its last heartbeat ends them
--   faster than anybody could read.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._worker_loads(
    of_tenant_id int, incarnation_ids int[], claimed_max int DEFAULT 10000, shown_max int DEFAULT 10
) RETURNS TABLE (incarnation_id int, n_running bigint, cpu_m bigint, memory_mib bigint, jobs jsonb)
LANGUAGE sql STABLE AS $$
    WITH claimed AS (
        SELECT i.incarnation_id, coalesce(sum(cardinality(c.jobs)), 0) AS n
        FROM unnest(_worker_loads.incarnation_ids) x (id)
        CROSS JOIN LATERAL (SELECT y.* FROM weft.worker_incarnation y WHERE y.incarnation_id = x.id OFFSET 0)
            i
        LEFT JOIN LATERAL (SELECT y.jobs FROM weft.claim y WHERE y.incarnation_id = i.incarnation_id OFFSET 0)
                c ON true
        WHERE i.ended_at IS NULL
        GROUP BY 1
    ),
    added AS (SELECT c.incarnation_id, sum(c.n) OVER (ORDER BY c.n, c.incarnation_id) AS n FROM claimed c)
    SELECT i.incarnation_id, l.n, l.cpu_m, l.memory_mib, coalesce(d.jobs, '[]')
    FROM added i
    CROSS JOIN LATERAL (
        WITH live AS MATERIALIZED (SELECT j.* FROM weft._live_jobs(i.incarnation_id) j)
        SELECT
            coalesce(sum(k.n), 0)::bigint AS n,
            coalesce(sum(k.n * s.cpu_m), 0)::bigint AS cpu_m,
            coalesce(sum(k.n * s.memory_mib), 0)::bigint AS memory_mib,
            (
                SELECT array_agg(ROW(o.batch_id, o.job_id, o.spec_first, o.claimed_at))
                FROM (
                    SELECT *
                    FROM (
                        SELECT x.* FROM live x WHERE x.tenant_id = of_tenant_id ORDER BY x.claimed_at OFFSET 0
                    ) y
                    WHERE weft._sees_batch(y.batch_id)
                    LIMIT shown_max
                ) o
            ) AS first_jobs
        FROM (SELECT x.shape_id, count(*) AS n FROM live x GROUP BY 1) k
        JOIN weft.shape s ON s.shape_id = k.shape_id
    ) l
    CROSS JOIN LATERAL (
        SELECT jsonb_agg(
            jsonb_build_object(
                'batch_id', j.batch_id,
                'job_id', j.job_id,
                'user', u.name,
                'name', CASE WHEN b.job_id IS NULL THEN r.name ELSE b.name END,
                'index', r.first_index + j.job_id - r.first_job
            ) ORDER BY j.claimed_at
        ) AS jobs
        FROM unnest(l.first_jobs) j (batch_id bigint, job_id int, spec_first int, claimed_at timestamptz)
        JOIN weft.batch t ON t.batch_id = j.batch_id
        JOIN weft.tenant_user u ON u.user_id = t.user_id
        LEFT JOIN weft.job_label b ON b.batch_id = j.batch_id AND b.job_id = j.job_id
        LEFT JOIN weft.job_array r ON r.batch_id = j.batch_id AND r.first_job = j.spec_first
    ) d
    WHERE i.n <= greatest(claimed_max, 100 * cardinality(_worker_loads.incarnation_ids))
$$;
