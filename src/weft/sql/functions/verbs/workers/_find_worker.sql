-- _find_worker: the number of the worker with this name in a pool that serves a tenant (NULL: any);
--   a pool is needed if several pools have one.
-- Plan: workers by name; of a tenant by pool and name, in each pool that serves it.
-- Raises WF305 if there is none, WF306 if there are several.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._find_worker(of_name text, of_pool text, of_tenant_id int) RETURNS int
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_ids int[];
    v_pools text;
BEGIN
    SELECT array_agg(w.worker_id), string_agg(p.name, ', ' ORDER BY p.name)
    INTO v_ids, v_pools
    FROM (
        SELECT x.worker_id, x.pool_id
        FROM weft.worker x
        WHERE of_tenant_id IS NULL AND x.name = of_name
        UNION ALL
        SELECT x.worker_id, x.pool_id
        FROM weft._pools_serving(of_tenant_id) s
        CROSS JOIN LATERAL (
            SELECT y.worker_id, y.pool_id
            FROM weft.worker y
            WHERE y.pool_id = s.pool_id AND y.name = of_name
            OFFSET 0
        ) x
    ) w
    JOIN weft.pool p
    USING (pool_id)
    WHERE p.name = coalesce(of_pool, p.name);
    IF v_ids IS NULL THEN
        PERFORM weft._fail(
            'WF305',
            format('worker "%s" does not exist', of_name),
            CASE
                WHEN of_pool IS NULL THEN 'No pool has a worker of this name.'
                ELSE format('Pool "%s" has no worker of this name.', of_pool)
            END,
            'List the workers with `weft worker ls --all`.'
        );
    ELSIF cardinality(v_ids) > 1 THEN
        PERFORM weft._fail(
            'WF306',
            format('there are several workers "%s"', of_name),
            format('They are in the pools %s.', v_pools),
            'Name the pool, as in `weft worker show NAME --pool default`.'
        );
    END IF;
    RETURN v_ids[1];
END $$;
