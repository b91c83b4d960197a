-- list_pool_costs: what the machines of a pool that serves a tenant (NULL: of any pool) cost by date (UTC)
--   and flavour, and what of it jobs used; newest first.
-- Plan: costs of the pool by key, of these days; sums of its machines: what they cost since they were counted
--   is of today.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_pool_costs(pools_of_tenant_id int, of_pool text, limit_days int)
RETURNS SETOF jsonb LANGUAGE plpgsql STABLE PLAN_ONCE SET enable_seqscan = off SET enable_bitmapscan = off SET
    enable_hashagg = off AS $$
DECLARE
    v_pool int := (
        SELECT p.pool_id
        FROM weft.pool p
        WHERE p.name = of_pool AND weft._serves_tenant(p, pools_of_tenant_id)
    );
    v_us numeric := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
    RETURN QUERY
    WITH today AS MATERIALIZED (
        SELECT
            (clock_timestamp() AT TIME ZONE 'UTC')::date AS spent_on,
            m.flavour,
            sum(m.n) * v_us - sum(m.from_us) AS machine_us,
            (sum(m.share) * v_us - sum(m.share_from))::double precision AS used_us,
            (sum(m.price) * v_us - sum(m.price_from)) / 3600000000 AS cost,
            (sum(m.share_price) * v_us - sum(m.share_price_from)) / 3600000000 AS used_cost
        FROM weft.machine_sum m
        WHERE m.pool_id = v_pool
        GROUP BY m.flavour
        HAVING sum(m.n) > 0
    ),
    day AS MATERIALIZED (
        SELECT x.spent_on
        FROM (
            SELECT t.spent_on
            FROM today t
            UNION (
                SELECT DISTINCT c.spent_on
                FROM weft.pool_cost c
                WHERE c.pool_id = v_pool
                ORDER BY 1 DESC
                LIMIT limit_days
            )
        ) x
        ORDER BY 1 DESC
        LIMIT limit_days
    ),
    part AS (
        SELECT c.spent_on, c.flavour, c.machine_us, c.used_us, c.cost, c.used_cost
        FROM day d
        CROSS JOIN LATERAL (
            SELECT y.* FROM weft.pool_cost y WHERE y.pool_id = v_pool AND y.spent_on = d.spent_on OFFSET 0
        ) c
        UNION ALL
        SELECT t.*
        FROM today t
    )
    SELECT jsonb_build_object(
        'date', x.spent_on,
        'flavour', x.flavour,
        'machine_hours', sum(x.machine_us) / 3600000000.0,
        'used_hours', sum(x.used_us) / 3600000000.0,
        'cost', sum(x.cost)::double precision,
        'used_cost', sum(x.used_cost)::double precision,
        'idle_cost', (sum(x.cost) - sum(x.used_cost))::double precision
    )
    FROM part x
    GROUP BY x.spent_on, x.flavour
    ORDER BY x.spent_on DESC, x.flavour;
END $$;
