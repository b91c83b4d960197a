-- _visible_operations: operations with numbers below `before` that a user may see, newest first: as
--   _sees_operation decides, one by one.
-- Plan: a page of each of: those on own batches, on those of each project of the user and on each batch that
--   was granted to them, and those that they have asked for and see without a batch; each backwards along its
--   own index, as in _visible_batches. What _sees_operation leaves out of these are operations on batches
--   that are being removed.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._visible_operations(of_user_id int, before bigint, limit_rows int)
RETURNS SETOF weft.operation LANGUAGE sql STABLE PLAN_IN_ORDER PLAN_ONCE AS $$
    WITH found AS MATERIALIZED (
        (
            SELECT o.operation_id
            FROM weft.operation o
            WHERE (o.owner_id, o.operation_id) >= (of_user_id, 0)
                AND (o.owner_id, o.operation_id) < (of_user_id, before)
                AND weft._sees_operation(o)
            ORDER BY o.owner_id DESC, o.operation_id DESC
            LIMIT limit_rows
        ) UNION (
            SELECT p.operation_id
            FROM weft.billing_member m
            CROSS JOIN LATERAL (
                SELECT o.operation_id
                FROM weft.operation o
                WHERE (o.project_id, o.operation_id) >= (m.project_id, 0)
                    AND (o.project_id, o.operation_id) < (m.project_id, before)
                    AND weft._sees_operation(o)
                ORDER BY o.project_id DESC, o.operation_id DESC
                LIMIT limit_rows
            ) p
            WHERE m.user_id = of_user_id
        ) UNION (
            SELECT p.operation_id
            FROM weft.batch_grant g
            CROSS JOIN LATERAL (
                SELECT o.operation_id
                FROM weft.operation o
                WHERE (o.batch_id, o.operation_id) >= (g.batch_id, 0)
                    AND (o.batch_id, o.operation_id) < (g.batch_id, before)
                    AND weft._sees_operation(o)
                ORDER BY o.batch_id DESC, o.operation_id DESC
                LIMIT limit_rows
            ) p
            WHERE g.job_id = 0 AND g.user_id = of_user_id
        ) UNION (
            SELECT o.operation_id
            FROM weft.operation o
            WHERE (o.batch_id IS NULL OR o.kind = 'delete_batch')
                AND (o.user_id, o.operation_id) >= (of_user_id, 0)
                AND (o.user_id, o.operation_id) < (of_user_id, before)
                AND weft._sees_operation(o)
            ORDER BY o.user_id DESC, o.operation_id DESC
            LIMIT limit_rows
        )
    )
    SELECT o.*
    FROM (SELECT f.operation_id FROM found f ORDER BY f.operation_id DESC LIMIT limit_rows) x
    CROSS JOIN LATERAL (SELECT y.* FROM weft.operation y WHERE y.operation_id = x.operation_id OFFSET 0) o
    ORDER BY x.operation_id DESC
$$;
