-- save_pools: make these the pools that are described. Others keep their workers and their tenant, but nobody
--   makes machines for them.
-- Safe to repeat: yes, also the record of what changed.
-- For: Store.save_pools (api), which has checked them.
-- Locks: pool (in the order of their ids); as _price_machines; pool_log.
-- Plan: all pools, which are few; machines that are not deleted, by the partial index.
-- pools: documents of weft.core.pools.Pool.
-- Raises WF309 (a pool with machines would go), WF127 (queues of
--   others use a pool of a tenant), WF128 (there is no such tenant).
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.save_pools(pools jsonb, actor text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_full record;
    v_other record;
    v_pool record;
    v_changed int[] := '{}';
    v_id int;
    v_tenant int;
BEGIN
    -- First, so that a queue which names a new pool waits for us, or we see it (_check_pools).
    INSERT INTO weft.pool (name)
    SELECT d ->> 'name'
    FROM jsonb_array_elements(pools) d
    ORDER BY 1
    ON CONFLICT DO NOTHING;
    PERFORM FROM weft.pool p ORDER BY p.pool_id FOR NO KEY UPDATE;
    SELECT p.name, count(*) AS n
    INTO v_full
    FROM weft.pool p
    JOIN weft.machine m
    USING (pool_id)
    WHERE m.state <> 'deleted' AND NOT pools @> jsonb_build_array(jsonb_build_object('name', p.name))
    GROUP BY 1
    LIMIT 1;
    IF FOUND THEN
        PERFORM weft._fail(
            'WF309',
            format('pool "%s" has machines', v_full.name),
            format('It has %s.', v_full.n),
            'Set its max_workers to 0 and wait until `weft pool show NAME` lists none; then leave it out.'
        );
    END IF;
    SELECT e ->> 'tenant' AS tenant, e ->> 'name' AS pool
    INTO v_other
    FROM jsonb_array_elements(pools) e
    WHERE e ->> 'tenant' IS NOT NULL
        AND NOT EXISTS (SELECT FROM weft.tenant t WHERE t.name_key = weft._name_key(e ->> 'tenant'))
    LIMIT 1;
    IF FOUND THEN
        PERFORM weft._fail(
            'WF128',
            format('tenant "%s" does not exist', v_other.tenant),
            format('Pool "%s" names it.', v_other.pool),
            '`weft tenant ls` lists the tenants.'
        );
    END IF;
    SELECT q.name, t.name AS tenant, e ->> 'name' AS pool
    INTO v_other
    FROM jsonb_array_elements(pools) e
    JOIN weft.queue q ON e ->> 'name' = ANY (q.pools)
    JOIN weft.tenant t
    USING (tenant_id)
    WHERE t.name_key <> weft._name_key(e ->> 'tenant')
    ORDER BY t.name, q.name
    LIMIT 1;
    IF FOUND THEN
        PERFORM weft._fail(
            'WF127',
            format('pool "%s" is used by another tenant', v_other.pool),
            format('It is one of the pools of queue "%s" of tenant "%s".', v_other.name, v_other.tenant),
            'Let an administrator of that tenant take it out of the queue first (`weft queue apply`).'
        );
    END IF;
    FOR v_pool IN
        SELECT x.name, e.plan
        FROM (
            SELECT p.name
            FROM weft.pool p
            WHERE p.plan IS NOT NULL
            UNION
            SELECT d ->> 'name'
            FROM jsonb_array_elements(pools) d
        ) x
        LEFT JOIN jsonb_array_elements(pools) e (plan) ON e.plan ->> 'name' = x.name
        ORDER BY x.name
    LOOP
        v_tenant := CASE
            WHEN v_pool.plan ? 'tenant'
                THEN (
                    SELECT t.tenant_id
                    FROM weft.tenant t
                    WHERE t.name_key = weft._name_key(v_pool.plan ->> 'tenant')
                )
            ELSE (SELECT p.serves_tenant_id FROM weft.pool p WHERE p.name = v_pool.name)
        END;
        UPDATE weft.pool p
        SET plan = v_pool.plan - 'tenant', serves_tenant_id = v_tenant
        WHERE p.name = v_pool.name
            AND (
                p.plan IS DISTINCT FROM v_pool.plan - 'tenant' OR p.serves_tenant_id IS DISTINCT FROM v_tenant
            )
        RETURNING p.pool_id
        INTO v_id;
        IF FOUND THEN
            v_changed := v_changed || v_id;
        END IF;
    END LOOP;
    PERFORM weft._price_machines(p.pool_id) FROM weft.pool p WHERE p.pool_id = ANY (v_changed);
    PERFORM weft._record_pool_changes(
        p.pool_id,
        ARRAY['apply'],
        ARRAY[NULL::text],
        ARRAY[
            save_pools.actor || CASE
                WHEN p.plan IS NULL THEN ' removed its description'
                ELSE ' changed its description'
            END
        ]
    )
    FROM weft.pool p
    WHERE p.pool_id = ANY (v_changed)
    ORDER BY p.pool_id;
    PERFORM pg_notify('driver', 'autoscale');
END $$;
