-- list_machines: the machines of a pool that serves a tenant (NULL: of any pool), oldest first, without
--   deleted ones.
-- Plan: by the partial index, a page.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_machines(pools_of_tenant_id int, of_pool text, limit_rows int)
RETURNS SETOF jsonb LANGUAGE sql STABLE PLAN_IN_ORDER AS $$
    SELECT jsonb_build_object(
        'machine', m.name, 'flavour', m.flavour, 'region', m.region, 'provider', m.provider,
        'provider_id', m.provider_id, 'state', m.state, 'reason', m.reason, 'created_at', m.created_at,
        'changed_at', m.changed_at,
        'price_per_hour', m.price_per_hour::text,
        'waits', CASE WHEN m.state = 'creating' THEN m.waits END,
        'for_one_job', m.for_batch_id IS NOT NULL
    )
    FROM weft.machine m
    WHERE m.pool_id = (
        SELECT p.pool_id
        FROM weft.pool p
        WHERE p.name = list_machines.of_pool AND weft._serves_tenant(p, pools_of_tenant_id)
    )
        AND m.state <> 'deleted'
    ORDER BY m.pool_id, m.machine_id
    LIMIT limit_rows
$$;
