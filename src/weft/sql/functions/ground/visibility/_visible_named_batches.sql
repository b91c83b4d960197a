-- _visible_named_batches: numbers of batches of one name below `before` that a user may see, newest first: as
--   _permission decides.
-- Plan: a page of each of: own batches, and those of each project of the user, each backwards along its own
--   index of names, as in _visible_batches; granted ones one by one, all of them.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._visible_named_batches(
    of_user_id int, of_name text, before bigint, limit_rows int, with_hidden boolean
) RETURNS SETOF bigint LANGUAGE sql STABLE PLAN_IN_ORDER PLAN_ONCE AS $$
    SELECT x.batch_id
    FROM (
        (
            SELECT b.batch_id
            FROM weft.batch b
            WHERE (b.user_id, b.name, b.batch_id) < (of_user_id, of_name, before)
                AND (b.user_id, b.name) >= (of_user_id, of_name)
                AND b.deleted_at IS NULL
                AND (with_hidden OR NOT b.hidden)
            ORDER BY b.user_id DESC, b.name DESC, b.batch_id DESC
            LIMIT limit_rows
        ) UNION (
            SELECT o.batch_id
            FROM weft.billing_member m
            CROSS JOIN LATERAL (
                SELECT b.batch_id
                FROM weft.batch b
                WHERE (b.project_id, b.name, b.batch_id) < (m.project_id, of_name, before)
                    AND (b.project_id, b.name) >= (m.project_id, of_name)
                    AND b.deleted_at IS NULL
                    AND (with_hidden OR NOT b.hidden)
                ORDER BY b.project_id DESC, b.name DESC, b.batch_id DESC
                LIMIT limit_rows
            ) o
            WHERE m.user_id = of_user_id
        ) UNION (
            SELECT b.batch_id
            FROM weft.batch_grant g
            CROSS JOIN LATERAL (
                SELECT y.batch_id
                FROM weft.batch y
                WHERE y.batch_id = g.batch_id
                    AND y.name = of_name
                    AND y.deleted_at IS NULL
                    AND (with_hidden OR NOT y.hidden)
                OFFSET 0
            ) b
            WHERE g.job_id = 0 AND g.user_id = of_user_id AND g.batch_id < before
        )
    ) x
    ORDER BY x.batch_id DESC
    LIMIT limit_rows
$$;
