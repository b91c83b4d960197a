-- _visible_schedules: schedules with numbers above `after_id` that a user may see, in order: as _sees_maker
--   decides, one by one.
-- Plan: a page of own ones, and of those of each project of the user, each along its own index, as in
--   _visible_batches.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._visible_schedules(of_user_id int, after_id bigint, limit_rows int)
RETURNS SETOF weft.schedule
LANGUAGE sql STABLE PLAN_BY_KEY PLAN_IN_ORDER PLAN_ONCE SET enable_hashagg = off AS $$
    WITH found AS MATERIALIZED (
        (
            SELECT s.schedule_id
            FROM weft.schedule s
            WHERE (s.user_id, s.schedule_id) > (of_user_id, after_id)
                AND s.user_id <= of_user_id
                AND weft._sees_maker(s)
            ORDER BY s.user_id, s.schedule_id
            LIMIT limit_rows
        ) UNION (
            SELECT p.schedule_id
            FROM weft.billing_member m
            CROSS JOIN LATERAL (
                SELECT s.schedule_id
                FROM weft.schedule s
                WHERE (s.project_id, s.schedule_id) > (m.project_id, after_id)
                    AND s.project_id <= m.project_id
                    AND weft._sees_maker(s)
                ORDER BY s.project_id, s.schedule_id
                LIMIT limit_rows
            ) p
            WHERE m.user_id = of_user_id
        )
    )
    SELECT s.*
    FROM (SELECT f.schedule_id FROM found f ORDER BY f.schedule_id LIMIT limit_rows) x
    CROSS JOIN LATERAL (SELECT y.* FROM weft.schedule y WHERE y.schedule_id = x.schedule_id OFFSET 0) s
    ORDER BY x.schedule_id
$$;
