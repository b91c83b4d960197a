-- _closed_gates: the gates that keep a job from being offered: those of its batch and its own that open
--   later, or that have no place left and gave it none; each with the first jobs that have a place. Those
--   count, too, that a first quota of cores is about to give it.
-- Plan: gates and places by key; open sweeps of the tenant, which are none as a rule.
-- Returns: objects with `kind`, `key` without the number of its tenant or batch, `max_places`, `n_taken`,
--   `opens_at`, `cost`, `holders`: those of the job's own tenant that the caller sees. A key that would name
--   a job which they do not see is empty.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._closed_gates(
    of_batch_id bigint, of_job_id int, of_gate_set_ids int[], at timestamptz
) RETURNS jsonb LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT coalesce(
        jsonb_agg(
            jsonb_build_object(
                'kind', g.kind,
                'key', CASE
                    WHEN k.names_job
                        AND NOT weft._sees_batch(substring(weft._gate_name(g.key) FROM '^b([0-9]+)')::bigint)
                        THEN ''
                    ELSE weft._gate_name(g.key)
                END,
                'max_places', g.max_places,
                'n_taken', g.n_taken,
                'opens_at', g.opens_at,
                'cost', m.cost,
                'holders', h.jobs
            ) ORDER BY g.gate_id
        ),
        '[]'
    )
    FROM (
        SELECT y.gate_id, max(y.cost) AS cost
        FROM (
            SELECT x.gate_id, x.cost
            FROM weft.gate_member x
            WHERE x.gate_set_id = ANY (of_gate_set_ids)
            UNION ALL
            SELECT c.gate_id, j.cpu_m
            FROM weft.batch b
            JOIN weft.core_sweep s ON s.tenant_id = b.tenant_id
                AND s.user_id IN (-1, 0, b.user_id)
                AND s.done_at IS NULL
                AND s.pass <> 'show'
            CROSS JOIN LATERAL weft._named_gates(
                CASE WHEN s.user_id < 0 THEN 'cores' ELSE 'cores_user' END,
                b.tenant_id,
                NULL,
                CASE WHEN s.user_id >= 0 THEN b.user_id END
            ) c
            JOIN weft.job j ON j.batch_id = b.batch_id AND j.job_id = of_job_id
            WHERE b.batch_id = of_batch_id
        ) y
        GROUP BY 1
    ) m
    JOIN weft.gate g
    USING (gate_id)
    LEFT JOIN weft._gate_kinds() k ON k.kind = g.kind
    CROSS JOIN LATERAL (
        SELECT coalesce(
            jsonb_agg(
                jsonb_build_object('batch_id', x.batch_id, 'job_id', x.job_id, 'user', u.name, 'cost', x.cost)
                    ORDER BY x.admitted_at
            ),
            '[]'
        ) AS jobs
        FROM (
            SELECT f.*
            FROM (
                SELECT p.*
                FROM weft.place p
                WHERE p.gate_id = g.gate_id
                ORDER BY p.admitted_at
                LIMIT CASE WHEN k.owner = 'site' THEN 100 ELSE 3 END
            ) f  -- other tenants have places of a site's gate
            WHERE f.tenant_id = (SELECT b.tenant_id FROM weft.batch b WHERE b.batch_id = of_batch_id)
            ORDER BY f.admitted_at
            LIMIT 3
        ) x
        JOIN weft.batch o ON o.batch_id = x.batch_id
        JOIN weft.tenant_user u ON u.user_id = o.user_id
        WHERE weft._permission(o.batch_id, o.user_id, o.project_id) > 0
    ) h
    WHERE g.opens_at > _closed_gates.at
        OR g.n_taken + m.cost > g.max_places
            AND NOT EXISTS (
                SELECT
                FROM weft.place p
                WHERE p.batch_id = of_batch_id AND p.job_id = of_job_id AND p.gate_id = g.gate_id
            )
$$;
