-- list_pool_changes: what was decided about a pool that serves a tenant (NULL: about any pool), and why,
--   newest first.
-- Plan: by key, a page.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_pool_changes(pools_of_tenant_id int, of_pool text, limit_rows int)
RETURNS SETOF jsonb LANGUAGE sql STABLE PLAN_IN_ORDER AS $$
    SELECT jsonb_build_object('at', c.at, 'kind', c.kind, 'machine', c.machine, 'reason', c.reason)
    FROM weft.pool_change c
    WHERE c.pool_id = (
        SELECT p.pool_id
        FROM weft.pool p
        WHERE p.name = list_pool_changes.of_pool AND weft._serves_tenant(p, pools_of_tenant_id)
    )
    ORDER BY c.change_id DESC
    LIMIT limit_rows
$$;
