-- _preemption_hosts: the workers of a pool that take jobs, what runs there, and what they have claimed that
--   may stop others to start.
-- Plan: live incarnations of the pool; as _live_attempts; labels, arrays, queues and attempts of these jobs
--   by key.
-- Returns: documents of weft.core.scheduling.preemption.Host.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._preemption_hosts(of_pool_id int) RETURNS SETOF jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'name', w.name,
        'cpu_m', i.cpu_m,
        'memory_mib', i.memory_mib,
        'offers', weft._offers(i) || CASE
            WHEN i.offers ? 'slots' THEN jsonb_build_object('slots', i.offers -> 'slots')
            ELSE '{}'
        END,
        'running', h.running,
        'leases', h.leases
    )
    FROM weft.worker_incarnation i
    JOIN weft.worker w
    USING (worker_id)
    CROSS JOIN LATERAL (
        SELECT
            coalesce(
                jsonb_agg(
                    x.job || jsonb_build_object(
                        'attempt', x.attempt,
                        'losses', x.losses,
                        'runs_s', coalesce(date_part('epoch', clock_timestamp() - x.started_at), 0),
                        'may_be_stopped', x.may_be_stopped
                    ) ORDER BY x.batch_id,
                    x.job_id
                ) FILTER (WHERE NOT x.is_lease),
                '[]'
            ) AS running,
            coalesce(
                jsonb_agg(
                    x.job || jsonb_build_object(
                        'attempt', weft._last_run(x.batch_id, x.job_id), 'worker', w.name
                    ) ORDER BY x.batch_id,
                    x.job_id
                ) FILTER (WHERE x.is_lease),
                '[]'
            ) AS leases
        FROM (
            SELECT
                j.batch_id,
                j.job_id,
                j.attempt,
                j.started_at,
                CASE
                    WHEN (j.retry_on >> REASON_LOST) & 1 = 0 THEN j.n_lost
                    WHEN j.attempt - j.n_uncounted < j.max_attempts THEN 0
                    ELSE 1000000
                END AS losses,  -- its last try is not stopped
                jsonb_build_object(
                    'batch_id', j.batch_id,
                    'job_id', j.job_id,
                    'tenant_id', j.tenant_id,
                    'priority', p.priority,
                    'cpu_m', j.cpu_m,
                    'memory_mib', j.memory_mib,
                    'asks', coalesce(l.asks, '{}')
                ) AS job,
                j.started_at IS NULL
                    AND p.priority IS NOT NULL
                    AND NOT weft._has_preempted(j.batch_id, j.job_id) AS is_lease,
                j.started_at IS NOT NULL
                    AND weft._is_preemptible(j)
                    AND NOT EXISTS (
                        SELECT
                        FROM weft.preemption q
                        WHERE q.batch_id = j.batch_id AND q.job_id = j.job_id AND q.attempt = j.attempt
                    ) AS may_be_stopped
            FROM weft._live_attempts(i.incarnation_id) j
            CROSS JOIN LATERAL (SELECT weft._queue_priority(j) AS priority) p
            LEFT JOIN weft.lane l ON l.lane_id = j.lane_id
        ) x
    ) h
    WHERE i.pool_id = of_pool_id AND i.ended_at IS NULL AND NOT i.cordoned AND NOT i.draining
    ORDER BY i.incarnation_id
$$;
