-- _visible_limits: numbers above `after_id` of limits that a user may see, in order: as _sees_limit decides,
--   one by one.
-- Plan: a page of each of: those of the user and of own batches; those of each project of the user and of its
--   batches; those of each batch that was granted to them; each along its own index, as in _visible_batches.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._visible_limits(of_user_id int, after_id int, limit_rows int)
RETURNS SETOF int LANGUAGE sql STABLE PLAN_BY_KEY PLAN_IN_ORDER PLAN_ONCE SET enable_hashagg = off AS $$
    SELECT x.limit_id
    FROM (
        (
            SELECT l.limit_id
            FROM weft.spend_limit l
            WHERE (l.owner_id, l.limit_id) > (of_user_id, after_id)
                AND l.owner_id <= of_user_id
                AND (l.amount_max IS NOT NULL OR l.amount_soft_max IS NOT NULL OR l.stage <> 'below')
                AND weft._sees_limit(l, of_user_id)
            ORDER BY l.owner_id, l.limit_id
            LIMIT limit_rows
        ) UNION (
            SELECT p.limit_id
            FROM weft.billing_member m
            CROSS JOIN LATERAL (
                SELECT l.limit_id
                FROM weft.spend_limit l
                WHERE (l.shared_project_id, l.limit_id) > (m.project_id, after_id)
                    AND l.shared_project_id <= m.project_id
                    AND (l.amount_max IS NOT NULL OR l.amount_soft_max IS NOT NULL OR l.stage <> 'below')
                    AND weft._sees_limit(l, of_user_id)
                ORDER BY l.shared_project_id, l.limit_id
                LIMIT limit_rows
            ) p
            WHERE m.user_id = of_user_id
        ) UNION (
            SELECT p.limit_id
            FROM weft.batch_grant g
            CROSS JOIN LATERAL (
                SELECT l.limit_id
                FROM weft.spend_limit l
                WHERE (l.batch_id, l.limit_id) > (g.batch_id, after_id)
                    AND l.batch_id <= g.batch_id
                    AND (l.amount_max IS NOT NULL OR l.amount_soft_max IS NOT NULL OR l.stage <> 'below')
                    AND weft._sees_limit(l, of_user_id)
                ORDER BY l.batch_id, l.limit_id
                LIMIT limit_rows
            ) p
            WHERE g.job_id = 0 AND g.user_id = of_user_id
        )
    ) x
    ORDER BY x.limit_id
    LIMIT limit_rows
$$;
