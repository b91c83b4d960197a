-- _shown_conditions: the first conditions after a number that the caller of this transaction sees, who does
--   not see the tenant: a job of a batch that they see waits there.
-- Plan: a page of each of: conditions of own batches, and of those of each project, along the index of each;
--   all of granted batches, one by one. Comparing rows leaves no other index to choose, see _visible_batches.
-- Returns: their numbers, in order.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._shown_conditions(after_id bigint, limit_rows int) RETURNS SETOF bigint
LANGUAGE sql STABLE PLAN_BY_KEY PLAN_IN_ORDER PLAN_ONCE SET enable_hashagg = off AS $$
    SELECT DISTINCT x.condition_id
    FROM (
        (
            SELECT DISTINCT c.owner_id AS scope_id, c.condition_id
            FROM weft.condition_batch c
            WHERE (c.owner_id, c.condition_id) > (weft._caller_id(), after_id)
                AND c.owner_id <= weft._caller_id()
                AND weft._permission(c.batch_id, c.owner_id, c.project_id) > 0
                AND weft._waits_at(c.batch_id, c.condition_id)
            ORDER BY c.owner_id, c.condition_id
            LIMIT limit_rows
        ) UNION ALL (
            SELECT p.*
            FROM weft.billing_member m
            CROSS JOIN LATERAL (
                SELECT DISTINCT c.project_id, c.condition_id
                FROM weft.condition_batch c
                WHERE (c.project_id, c.condition_id) > (m.project_id, after_id)
                    AND c.project_id <= m.project_id
                    AND weft._permission(c.batch_id, c.owner_id, c.project_id) > 0
                    AND weft._waits_at(c.batch_id, c.condition_id)
                ORDER BY c.project_id, c.condition_id
                LIMIT limit_rows
            ) p
            WHERE m.user_id = weft._caller_id()
        ) UNION ALL (
            SELECT 0, c.condition_id
            FROM weft.batch_grant g
            CROSS JOIN LATERAL (
                SELECT y.*
                FROM weft.condition_batch y
                WHERE y.batch_id = g.batch_id AND y.condition_id > after_id
                OFFSET 0
            ) c
            WHERE g.job_id = 0
                AND g.user_id = weft._caller_id()
                AND weft._permission(c.batch_id, c.owner_id, c.project_id) > 0
                AND weft._waits_at(c.batch_id, c.condition_id)
        )
    ) x
    ORDER BY x.condition_id
    LIMIT limit_rows
$$;
