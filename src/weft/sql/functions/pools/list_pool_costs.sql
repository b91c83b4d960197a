-- list_pool_costs: what the machines of a pool cost by date (UTC) and flavour, and what of it jobs used; newest first.
-- Called by: Store.list_pool_costs (api).   Safe to repeat: yes, it only reads.
-- Plan: costs of the pool by key; its machines that are not deleted: what they cost since they were counted is of today.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_pool_costs(of_pool text, limit_days int) RETURNS SETOF jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    WITH part AS (
        SELECT c.spent_on, c.flavour, c.machine_us, c.used_us, c.cost, c.used_cost
        FROM weft.pool_cost c JOIN weft.pool p USING (pool_id) WHERE p.name = of_pool
        UNION ALL
        SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date, m.flavour, c.machine_us, c.used_us, c.cost, c.used_cost
        FROM weft.machine m JOIN weft.pool p USING (pool_id) CROSS JOIN LATERAL weft._machine_costs(m, clock_timestamp()) c
        WHERE p.name = of_pool AND m.state <> 'deleted'),
    day AS (SELECT x.spent_on FROM part x GROUP BY 1 ORDER BY 1 DESC LIMIT limit_days)
    SELECT jsonb_build_object('date', x.spent_on, 'flavour', x.flavour, 'machine_hours', sum(x.machine_us) / 3600000000.0,
        'used_hours', sum(x.used_us) / 3600000000.0, 'cost', sum(x.cost)::double precision,
        'used_cost', sum(x.used_cost)::double precision, 'idle_cost', (sum(x.cost) - sum(x.used_cost))::double precision)
    FROM part x JOIN day USING (spent_on) GROUP BY x.spent_on, x.flavour ORDER BY x.spent_on DESC, x.flavour
$$;
