-- _shown_waiting: up to limit_jobs jobs at a condition that are in batches which the caller of this
--   transaction sees, who does not see the tenant; in no order.
-- Plan: batches of the condition by index: own ones, those of each project, and granted ones, each once;
--   blocked jobs of each by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._shown_waiting(of_condition_id bigint, limit_jobs int)
RETURNS SETOF weft.blocked_job LANGUAGE sql STABLE PLAN_BY_KEY PLAN_IN_ORDER PLAN_ONCE AS $$
    SELECT k.*
    FROM (
        SELECT c.*
        FROM weft.condition_batch c
        WHERE c.owner_id = weft._caller_id() AND c.condition_id = of_condition_id
        UNION ALL
        SELECT p.*
        FROM weft.billing_member m
        CROSS JOIN LATERAL (
            SELECT c.*
            FROM weft.condition_batch c
            WHERE c.project_id = m.project_id AND c.condition_id = of_condition_id AND c.owner_id <> m.user_id
            OFFSET 0
        ) p
        WHERE m.user_id = weft._caller_id()
        UNION ALL
        SELECT o.*
        FROM weft.batch_grant g
        CROSS JOIN LATERAL (
            SELECT c.*
            FROM weft.condition_batch c
            WHERE c.batch_id = g.batch_id AND c.condition_id = of_condition_id AND c.owner_id <> g.user_id
            OFFSET 0
        ) o
        WHERE g.job_id = 0
            AND g.user_id = weft._caller_id()
            AND NOT EXISTS (
                SELECT FROM weft.billing_member m WHERE m.project_id = o.project_id AND m.user_id = g.user_id
            )
    ) b
    CROSS JOIN LATERAL (SELECT x.* FROM weft.blocked_job x WHERE x.batch_id = b.batch_id OFFSET 0) k
    WHERE k.condition_id = of_condition_id AND weft._permission(b.batch_id, b.owner_id, b.project_id) > 0
    LIMIT limit_jobs
$$;
