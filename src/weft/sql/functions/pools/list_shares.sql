-- list_shares: what users run in a pool and what of theirs is ready there, in the order in which they are served. As of the last fold.
-- Called by: Store.list_shares (api).   Safe to repeat: yes, it only reads.   Plan: users that ever had work in the pool, by
--   key: no index tells which of them run something, because loads change with each fold.
-- Returns: documents; those of users whom the caller does not see have no name: they count in the shares of the others.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_shares(tenant_id int, of_pool text, limit_rows int) RETURNS SETOF jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object('user', CASE WHEN s.tenant_id = list_shares.tenant_id
            AND s.user_id = coalesce(weft._caller_id(), s.user_id) THEN u.name END,
        'weight', s.weight, 'n_ready', s.n_ready, 'ready_m', s.ready_m, 'running_m', s.running_m)
    FROM (SELECT x.* FROM weft.user_share x WHERE (x.n_ready > 0 OR x.running_m > 0)
              AND x.pool_id = (SELECT p.pool_id FROM weft.pool p WHERE p.name = list_shares.of_pool)
          ORDER BY x.load, x.user_id LIMIT limit_rows) s
    JOIN weft.tenant_user u ON u.user_id = s.user_id ORDER BY s.load, s.user_id
$$;
