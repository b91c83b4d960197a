-- list_shares: what users run in a pool and what of theirs may be claimed there: those with ready work in the
--   order in which they are served, then those who only run jobs, by number. As of the last fold; of users
--   with more than 200 such jobs all that are ready count.
-- Plan: users who may have ready work, by load, then others who run something, each a page by an index, of
--   the tenant by one of its own; one user by key; of each who has some as _offered_load.
-- own_tenant: nobody else's users, so that who goes on from the last one learns nothing of them.
-- after_load, after_user: those after this user, who has ready work if there is a load.
-- of_user_id: only this user; NULL: all.
-- Returns: documents, with `load` (NULL: only runs jobs) and `user_id` to go on from; those of users whom the
--   caller does not see have no name, and of other tenants no number: they count in the shares of the others.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_shares(
    tenant_id int,
    of_pool text,
    of_user_id int,
    after_load double precision,
    after_user int,
    limit_rows int,
    own_tenant boolean DEFAULT false
) RETURNS SETOF jsonb LANGUAGE plpgsql STABLE PLAN_BY_KEY PLAN_IN_ORDER PLAN_ONCE AS $$
DECLARE
    v_pool int := (SELECT p.pool_id FROM weft.pool p WHERE p.name = list_shares.of_pool);
BEGIN
    RETURN QUERY
    SELECT jsonb_build_object(
        'user', CASE
            WHEN s.tenant_id = list_shares.tenant_id AND s.user_id = coalesce(weft._caller_id(), s.user_id)
                THEN (SELECT u.name FROM weft.tenant_user u WHERE u.user_id = s.user_id)
        END,
        'weight', s.weight,
        'n_ready', coalesce(o.n_ready, s.n_ready),
        'ready_m', coalesce(o.ready_m, s.ready_m),
        'running_m', s.running_m,
        'load', CASE WHEN s.active THEN s.load END,
        'user_id', CASE WHEN s.tenant_id = list_shares.tenant_id THEN s.user_id END
    )
    FROM (
        (
            SELECT x.*
            FROM weft.user_share x
            WHERE list_shares.of_user_id IS NULL
                AND (after_user IS NULL OR after_load IS NOT NULL)
                AND x.pool_id = v_pool
                AND x.active
                AND (x.n_ready > 0 OR x.running_m > 0)
                AND NOT own_tenant
                AND (x.load, x.user_id) > (coalesce(after_load, '-infinity'), coalesce(after_user, 0))
            ORDER BY x.load, x.user_id
            LIMIT limit_rows
        ) UNION ALL (
            SELECT x.*
            FROM weft.user_share x
            WHERE list_shares.of_user_id IS NULL
                AND (after_user IS NULL OR after_load IS NOT NULL)
                AND x.pool_id = v_pool
                AND x.active
                AND (x.n_ready > 0 OR x.running_m > 0)
                AND own_tenant
                AND (x.tenant_id, x.load, x.user_id) > (
                    list_shares.tenant_id, coalesce(after_load, '-infinity'), coalesce(after_user, 0)
                )
                AND x.tenant_id <= list_shares.tenant_id
            ORDER BY x.tenant_id, x.load, x.user_id
            LIMIT limit_rows
        ) UNION ALL (
            SELECT x.*
            FROM weft.user_share x
            WHERE list_shares.of_user_id IS NULL
                AND x.pool_id = v_pool
                AND NOT x.active
                AND x.running_m > 0
                AND NOT own_tenant
                AND x.user_id > CASE WHEN after_load IS NULL THEN coalesce(after_user, 0) ELSE 0 END
            ORDER BY x.user_id
            LIMIT limit_rows
        ) UNION ALL (
            SELECT x.*
            FROM weft.user_share x
            WHERE list_shares.of_user_id IS NULL
                AND x.pool_id = v_pool
                AND NOT x.active
                AND x.running_m > 0
                AND own_tenant
                AND (x.tenant_id, x.user_id) > (
                    list_shares.tenant_id,
                    CASE WHEN after_load IS NULL THEN coalesce(after_user, 0) ELSE 0 END
                )
                AND x.tenant_id <= list_shares.tenant_id
            ORDER BY x.tenant_id, x.user_id
            LIMIT limit_rows
        ) UNION ALL SELECT x.* FROM weft.user_share x WHERE x.pool_id = v_pool
            AND x.user_id = list_shares.of_user_id
            AND (x.n_ready > 0 OR x.running_m > 0)
    ) s
    LEFT JOIN LATERAL weft._offered_load(v_pool, s.user_id) o ON s.n_ready > 0
    LIMIT limit_rows;
END $$;
