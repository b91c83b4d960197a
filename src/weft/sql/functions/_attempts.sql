-- _attempts: all attempts of one job, ended and live, with their cost.
-- Called by: list_attempts, job_history, get_job.   Safe to repeat: yes, it only reads.   Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._attempts(of_batch_id bigint, of_job_id int)
RETURNS TABLE (attempt smallint, worker text, state text, to_state smallint, phase smallint, reason smallint, exit_code int, signal smallint, claimed_at timestamptz,
               started_at timestamptz, ended_at timestamptz, cpu_ms bigint, memory_peak_bytes bigint, stdout_bytes bigint, stderr_bytes bigint,
               truncated boolean, message text, cost numeric, cost_by_resource jsonb) LANGUAGE sql STABLE
AS $$
    SELECT a.attempt, w.name, CASE WHEN a.to_state = 1 THEN CASE WHEN a.reason IN (10, 11) THEN 'error' ELSE 'failed' END ELSE s.word END, a.to_state, a.phase, a.reason,
           a.exit_code, a.signal, a.claimed_at, a.started_at, a.ended_at, a.cpu_ms, a.memory_peak_bytes, a.stdout_bytes, a.stderr_bytes, a.truncated, a.message, c.cost, c.by_resource
    FROM (
        SELECT x.attempt, x.incarnation_id, x.state AS to_state, NULL::smallint AS phase, x.reason, x.exit_code, x.signal, x.claimed_at, x.started_at, x.ended_at,
               x.cpu_ms, x.memory_peak_bytes, x.stdout_bytes, x.stderr_bytes, x.truncated, x.message, x.shape_id, x.rate_card_id
        FROM weft.attempt x WHERE x.batch_id = of_batch_id AND x.job_id = of_job_id
        UNION ALL
        SELECT j.attempt, j.incarnation_id, 4::smallint, j.phase, NULL, NULL, NULL, j.claimed_at, j.started_at, NULL, 0, 0, 0, 0, false, NULL, j.shape_id, j.rate_card_id
        FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = of_job_id AND j.state = 4) a
    JOIN weft.job_state s ON s.state = a.to_state
    JOIN weft.worker_incarnation i ON i.incarnation_id = a.incarnation_id
    JOIN weft.worker w ON w.worker_id = i.worker_id
    JOIN weft.shape h ON h.shape_id = a.shape_id
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(y.cost), 0) AS cost, coalesce(jsonb_agg(jsonb_build_object('resource', y.name, 'usage', y.usage, 'unit', y.unit, 'cost', round(y.cost, 12)) ORDER BY y.resource_id), '[]') AS by_resource
        FROM (SELECT r.resource_id, r.name, r.unit, m.ms * v.quantity AS usage, m.ms * v.quantity * coalesce(p.price_per_unit_hour, 0) / 3600000 AS cost
              FROM (SELECT coalesce(weft._ms_between(a.started_at, coalesce(a.ended_at, clock_timestamp())), 0) AS ms) m
              CROSS JOIN (VALUES (1::smallint, h.cpu_m), (2::smallint, h.memory_mib), (3::smallint, h.storage_mib), (4::smallint, h.gpu::bigint)) v (resource_id, quantity)
              JOIN weft.resource r ON r.resource_id = v.resource_id
              LEFT JOIN weft.rate p ON p.rate_card_id = a.rate_card_id AND p.resource_id = r.resource_id
              WHERE v.quantity > 0) y) c
    ORDER BY a.attempt
$$;
