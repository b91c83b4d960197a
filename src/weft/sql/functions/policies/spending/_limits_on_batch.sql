-- _limits_on_batch: numbers above `after_id` of the limits of a batch and its groups, of its billing project
--   and of its user, in order; only those that a user may see (NULL: all).
-- Plan: those of the batch along their index, a page; the few of its project and of its user by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._limits_on_batch(
    of_batch weft.batch, of_user_id int, after_id int, limit_rows int
) RETURNS SETOF int LANGUAGE sql STABLE PLAN_IN_ORDER PLAN_ONCE SET enable_hashagg = off AS $$
    SELECT x.limit_id
    FROM (
        (
            SELECT l.limit_id
            FROM weft.spend_limit l
            WHERE (l.batch_id, l.limit_id) > (of_batch.batch_id, after_id)
                AND l.batch_id <= of_batch.batch_id
                AND (l.amount_max IS NOT NULL OR l.amount_soft_max IS NOT NULL OR l.stage <> 'below')
                AND weft._sees_limit(l, of_user_id)
            ORDER BY l.batch_id, l.limit_id
            LIMIT limit_rows
        ) UNION SELECT l.limit_id FROM (
            SELECT y.* FROM weft.spend_limit y WHERE y.project_id = of_batch.project_id OFFSET 0
        ) l WHERE l.limit_id > after_id
            AND (l.amount_max IS NOT NULL OR l.amount_soft_max IS NOT NULL OR l.stage <> 'below')
            AND weft._sees_limit(l, of_user_id) UNION SELECT l.limit_id FROM (
                SELECT y.* FROM weft.spend_limit y WHERE y.user_id = of_batch.user_id OFFSET 0
            ) l WHERE l.limit_id > after_id
            AND (l.amount_max IS NOT NULL OR l.amount_soft_max IS NOT NULL OR l.stage <> 'below')
            AND weft._sees_limit(l, of_user_id)
    ) x
    ORDER BY x.limit_id
    LIMIT limit_rows
$$;
