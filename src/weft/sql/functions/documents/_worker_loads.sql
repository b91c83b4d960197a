-- _worker_loads: what the jobs of each of these workers have reserved, if it lives, and the first of those of this tenant that the caller
--   sees, oldest first.
-- Called by: _worker_documents.   Safe to repeat: yes, it only reads.   Plan: as _live_attempts, then by key; the oldest are seen first.
-- Returns: no row for a worker that has claimed many jobs since its last heartbeat: they come and go faster than anybody could read.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._worker_loads(of_tenant_id int, incarnation_ids int[], claimed_max int DEFAULT 10000,
    shown_max int DEFAULT 10)
RETURNS TABLE (incarnation_id int, n_running bigint, cpu_m bigint, memory_mib bigint, jobs jsonb) LANGUAGE sql STABLE
AS $$
    SELECT i.incarnation_id, l.n, l.cpu_m, l.memory_mib, coalesce(d.jobs, '[]')
    FROM unnest(_worker_loads.incarnation_ids) x (id)
    CROSS JOIN LATERAL (SELECT y.* FROM weft.worker_incarnation y WHERE y.incarnation_id = x.id OFFSET 0) i
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(cardinality(c.jobs)), 0) AS n FROM weft.claim c WHERE c.incarnation_id = i.incarnation_id) k
    CROSS JOIN LATERAL (
        WITH live AS MATERIALIZED (SELECT j AS job, j.* FROM weft._live_attempts(i.incarnation_id) j)
        SELECT count(*) AS n, coalesce(sum(s.cpu_m), 0)::bigint AS cpu_m, coalesce(sum(s.memory_mib), 0)::bigint AS memory_mib,
            ARRAY(SELECT o.job FROM (SELECT x.job, x.batch_id FROM live x WHERE x.tenant_id = of_tenant_id ORDER BY x.claimed_at OFFSET 0) o
                WHERE weft._sees_batch(o.batch_id) LIMIT shown_max) AS first_jobs
        FROM live j JOIN weft.shape s ON s.shape_id = j.shape_id) l
    CROSS JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object('batch_id', j.batch_id, 'job_id', j.job_id, 'user', u.name,
            'name', CASE WHEN b.job_id IS NULL THEN r.name ELSE b.name END, 'index', r.first_index + j.job_id - r.first_job)
            ORDER BY j.claimed_at) AS jobs
        FROM unnest(l.first_jobs) j
        JOIN weft.batch t ON t.batch_id = j.batch_id
        JOIN weft.tenant_user u ON u.user_id = t.user_id
        LEFT JOIN weft.job_label b ON b.batch_id = j.batch_id AND b.job_id = j.job_id
        LEFT JOIN weft.job_array r ON r.batch_id = j.batch_id AND r.first_job = j.spec_first) d
    WHERE i.ended_at IS NULL AND k.n <= claimed_max
$$;
