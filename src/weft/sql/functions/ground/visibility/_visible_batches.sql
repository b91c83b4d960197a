-- _visible_batches: numbers of batches below `before` that a user may see, newest first: as _permission
--   decides, one batch by one.
-- Plan: a page of each of: own batches, those of each project of the user, granted ones; each backwards along
--   its own index. Comparing rows leaves no other order to choose: along the numbers of all batches the
--   planner would hope to find some of the user soon.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._visible_batches(
    of_user_id int, before bigint, limit_rows int, with_hidden boolean
) RETURNS SETOF bigint LANGUAGE sql STABLE PLAN_IN_ORDER PLAN_ONCE AS $$
    SELECT x.batch_id
    FROM (
        (
            SELECT b.batch_id
            FROM weft.batch b
            WHERE (b.user_id, b.batch_id) >= (of_user_id, 0)
                AND (b.user_id, b.batch_id) < (of_user_id, before)
                AND b.deleted_at IS NULL
                AND (with_hidden OR NOT b.hidden)
            ORDER BY b.user_id DESC, b.batch_id DESC
            LIMIT limit_rows
        ) UNION (
            SELECT o.batch_id
            FROM weft.billing_member m
            CROSS JOIN LATERAL (
                SELECT b.batch_id
                FROM weft.batch b
                WHERE (b.project_id, b.batch_id) >= (m.project_id, 0)
                    AND (b.project_id, b.batch_id) < (m.project_id, before)
                    AND b.deleted_at IS NULL
                    AND (with_hidden OR NOT b.hidden)
                ORDER BY b.project_id DESC, b.batch_id DESC
                LIMIT limit_rows
            ) o
            WHERE m.user_id = of_user_id
        ) UNION (
            SELECT b.batch_id
            FROM weft.batch_grant g
            CROSS JOIN LATERAL (
                SELECT y.batch_id
                FROM weft.batch y
                WHERE y.batch_id = g.batch_id AND y.deleted_at IS NULL AND (with_hidden OR NOT y.hidden)
                OFFSET 0
            ) b
            WHERE g.job_id = 0
                AND (g.user_id, g.batch_id) >= (of_user_id, 0)
                AND (g.user_id, g.batch_id) < (of_user_id, before)
            ORDER BY g.user_id DESC, g.batch_id DESC
            LIMIT limit_rows
        )
    ) x
    ORDER BY x.batch_id DESC
    LIMIT limit_rows
$$;
