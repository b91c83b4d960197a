-- _preemption_hosts: the workers of a pool that take jobs, and what runs there.
-- Called by: preemption_rounds.   Safe to repeat: yes, it only reads.
-- Plan: live incarnations of the pool; as _live_attempts; labels, arrays and queues of running jobs by key.
-- Returns: documents of weft.core.preemption.Host.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._preemption_hosts(of_pool_id int) RETURNS SETOF jsonb LANGUAGE sql STABLE
AS $$
    SELECT jsonb_build_object('name', w.name, 'cpu_m', i.cpu_m, 'memory_mib', i.memory_mib,
        'offers', weft._offers(i) || CASE WHEN i.offers ? 'slots' THEN jsonb_build_object('slots', i.offers -> 'slots') ELSE '{}' END,
        'running', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('batch_id', j.batch_id, 'job_id', j.job_id, 'attempt', j.attempt,
                'tenant_id', j.tenant_id, 'priority', weft._queue_priority(j), 'cpu_m', j.cpu_m, 'memory_mib', j.memory_mib,
                'asks', coalesce(l.asks, '{}'), 'losses', j.n_lost,
                'runs_s', coalesce(date_part('epoch', clock_timestamp() - j.started_at), 0),
                'may_be_stopped', j.started_at IS NOT NULL AND weft._is_preemptible(j) AND NOT EXISTS (
                    SELECT FROM weft.preemption p
                    WHERE p.batch_id = j.batch_id AND p.job_id = j.job_id AND p.attempt = j.attempt)) ORDER BY j.batch_id, j.job_id), '[]')
            FROM weft._live_attempts(i.incarnation_id) j LEFT JOIN weft.lane l ON l.lane_id = j.lane_id))
    FROM weft.worker_incarnation i JOIN weft.worker w USING (worker_id)
    WHERE i.pool_id = of_pool_id AND i.ended_at IS NULL AND NOT i.cordoned AND NOT i.draining
    ORDER BY i.incarnation_id
$$;
