-- _worker_documents: workers as the api shows them, each by one of its incarnations, with what runs there.
-- Plan: incarnations by key; as _worker_loads.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._worker_documents(of_tenant_id int, incarnation_ids int[])
RETURNS TABLE (worker_id int, name text, state text, document jsonb) LANGUAGE sql STABLE AS $$
    SELECT
        w.worker_id,
        w.name,
        s.state,
        jsonb_build_object(
            'worker', w.name, 'pool', p.name, 'host', w.host, 'state', s.state, 'cpu', i.cpu_m / 1000.0,
            'memory', i.memory_mib * 1048576,
            'registered_at', i.registered_at,
            'heartbeat_at', i.heartbeat_at,
            'ended_at', i.ended_at,
            'draining', s.state = 'draining',
            'waiting', i.waiting AND i.ended_at IS NULL,
            'version', i.version,
            'linked', i.token_id IS NOT NULL,
            'offers', weft._offers(i) - 'executor' - 'slots' - 'pool',
            'slots', i.offers -> 'slots',
            'cordoned_at', w.cordoned_at,
            'cordoned_by', w.cordoned_by,
            'cordon_reason', w.cordon_reason,
            'n_running', l.n_running,
            'cpu_used', l.cpu_m / 1000.0,
            'memory_used', l.memory_mib * 1048576,
            'jobs', coalesce(l.jobs, '[]'),
            'kept_for', k.document,
            'avoids', coalesce(
                (
                    SELECT jsonb_agg(a.one)
                    FROM jsonb_array_elements(i.avoided) a (one)
                    WHERE i.ended_at IS NULL AND (a.one ->> 'until')::timestamptz > clock_timestamp()
                ),
                '[]'
            )
        )
    FROM weft.worker_incarnation i
    JOIN weft.worker w
    USING (worker_id)
    JOIN weft.pool p ON p.pool_id = i.pool_id
    CROSS JOIN LATERAL (SELECT weft._worker_state(w, i) AS state) s
    LEFT JOIN LATERAL (
        SELECT jsonb_build_object(
            'batch_id', b.batch_id,
            'job_id', CASE WHEN b.batch_id IS NOT NULL THEN r.job_id END,
            'since', r.reserved_at,
            'fill_until', r.fill_until
        ) AS document
        FROM weft.reservation r
        LEFT JOIN weft.batch b ON b.batch_id = r.batch_id
            AND b.tenant_id = of_tenant_id
            AND weft._sees_batch(b.batch_id)
        WHERE r.incarnation_id = i.incarnation_id AND i.ended_at IS NULL AND weft._kept_for(r)
    ) k ON true
    LEFT JOIN weft._worker_loads(of_tenant_id, _worker_documents.incarnation_ids) l
        ON l.incarnation_id = i.incarnation_id
    WHERE i.incarnation_id = ANY (_worker_documents.incarnation_ids)
$$;
