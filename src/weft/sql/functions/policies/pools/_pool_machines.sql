-- _pool_machines: the machines of a pool and the workers that came by themselves, with what runs there.
-- Plan: live incarnations of the pool and machines that are not deleted, a few thousand at most; as
--   _live_attempts.
-- Returns: documents of weft.core.pools.Machine, oldest first; `busy_key` changes whenever a worker claims.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._pool_machines(of_pool_id int) RETURNS SETOF jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'name', coalesce(m.name, i.worker_name),
        'state', coalesce(m.state, 'active'),
        'flavour', m.flavour,
        'provider', m.provider,
        'region', coalesce(m.region, ''),
        'cpu_m', coalesce(i.cpu_m, m.cpu_m),
        'memory_mib', i.memory_mib,
        'offers', i.offers,
        'used_cpu_m', coalesce(r.cpu_m, 0),
        'used_memory_mib', coalesce(r.memory_mib, 0),
        'n_running', coalesce(r.n, 0),
        'is_old', coalesce(
            m.template IS DISTINCT FROM weft._template(m.plan, m.flavour) AND m.template IS NOT NULL, false
        ),
        'used_share', m.used_share,
        'is_own', m.for_batch_id IS NOT NULL,
        'is_needed', m.released_at IS NULL
            AND EXISTS (
                SELECT
                FROM weft.job j
                WHERE j.batch_id = m.for_batch_id
                    AND j.job_id = m.for_job_id
                    AND (
                        j.state = STATE_CREATING
                            OR j.state = STATE_RUNNING AND j.incarnation_id = i.incarnation_id
                    )
            ),
        'uncounted_s', date_part('epoch', clock_timestamp() - coalesce(m.costs_from, m.created_at)),
        'state_s', coalesce(date_part('epoch', clock_timestamp() - m.changed_at), 0),
        'waits', coalesce(m.state = 'creating' AND m.waits IS NOT NULL, false),
        'has_worker', i.incarnation_id IS NOT NULL,
        'is_held', coalesce(i.cordoned_by <> 'autoscaler', false) AND NOT coalesce(i.is_broken, false),
        'is_broken', coalesce(i.is_broken, false),
        'busy_key', format('%s %s', i.incarnation_id, k.claim_id)
    )
    FROM (
        SELECT x.*, p.plan
        FROM weft.machine x
        JOIN weft.pool p
        USING (pool_id)
        WHERE x.pool_id = of_pool_id AND x.state <> 'deleted'
    ) m
    FULL JOIN (
        SELECT
            w.name AS worker_name,
            w.cordoned_by,
            y.incarnation_id,
            y.cpu_m,
            y.memory_mib,
            EXISTS (SELECT FROM weft.black_hole b WHERE b.worker_id = w.worker_id) AS is_broken,
            weft._offers(y) || CASE
                WHEN y.offers ? 'slots' THEN jsonb_build_object('slots', y.offers -> 'slots')
                ELSE '{}'
            END || CASE
                WHEN y.offers ? 'timeout_s'
                    THEN jsonb_build_object('timeout_s', weft._time_left_s(y, clock_timestamp()))
                ELSE '{}'
            END AS offers
        FROM weft.worker_incarnation y
        JOIN weft.worker w
        USING (worker_id)
        WHERE y.pool_id = of_pool_id AND y.ended_at IS NULL AND weft._has_cores(y)
    ) i ON i.worker_name = m.name
    LEFT JOIN LATERAL (
        SELECT sum(a.cpu_m)::bigint AS cpu_m, sum(a.memory_mib)::bigint AS memory_mib, count(*) AS n
        FROM weft._live_attempts(i.incarnation_id) a
    ) r ON i.incarnation_id IS NOT NULL
    LEFT JOIN LATERAL (
        SELECT max(c.claim_id) AS claim_id FROM weft.claim c WHERE c.incarnation_id = i.incarnation_id
    ) k ON true
    ORDER BY m.machine_id NULLS LAST, i.worker_name
$$;
