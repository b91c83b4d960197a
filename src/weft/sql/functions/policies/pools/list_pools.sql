-- list_pools: the pools by name that serve a tenant (NULL: all pools): what is described, and how many
--   machines each has in which state.
-- Plan: pools by name, a page: those of the tenant and shared ones, each along their index; sums of their
--   machines by index.
-- of_name: only this one; after_name: those after this name; limit_rows: at most this number; NULL: all.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_pools(of_tenant_id int, of_name text, after_name text, limit_rows int)
RETURNS SETOF jsonb LANGUAGE sql STABLE PLAN_ONCE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
    SELECT jsonb_build_object(
        'pool', p.name,
        'plan', p.plan || jsonb_build_object('tenant', t.name),
        'machines', (
            SELECT coalesce(jsonb_object_agg(x.state, x.n), '{}')
            FROM (
                SELECT m.state, sum(m.n) AS n
                FROM weft.machine_sum m
                WHERE m.pool_id = p.pool_id
                GROUP BY 1
                HAVING sum(m.n) > 0
            ) x
        )
    )
    FROM (
        SELECT o.*
        FROM (
            (
                SELECT x.*
                FROM weft.pool x
                WHERE of_tenant_id IS NULL AND of_name IS NULL AND x.name > coalesce(after_name, '')
                ORDER BY x.name
                LIMIT limit_rows
            ) UNION ALL (
                SELECT x.*
                FROM weft.pool x
                WHERE x.serves_tenant_id = of_tenant_id
                    AND of_name IS NULL
                    AND x.name > coalesce(after_name, '')
                ORDER BY x.serves_tenant_id, x.name
                LIMIT limit_rows
            ) UNION ALL (
                SELECT x.*
                FROM weft.pool x
                WHERE x.serves_tenant_id IS NULL
                    AND of_tenant_id IS NOT NULL
                    AND of_name IS NULL
                    AND x.name > coalesce(after_name, '')
                ORDER BY x.serves_tenant_id, x.name
                LIMIT limit_rows
            ) UNION ALL SELECT x.* FROM weft.pool x WHERE x.name = of_name
                AND weft._serves_tenant(x, of_tenant_id)
                AND x.name > coalesce(after_name, '')
        ) o
        ORDER BY o.name
        LIMIT limit_rows
    ) p
    LEFT JOIN weft.tenant t ON t.tenant_id = p.serves_tenant_id
    ORDER BY p.name
$$;
