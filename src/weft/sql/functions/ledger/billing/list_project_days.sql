-- list_project_days: the cost of a billing project on each date (UTC) with usage, before `before`, newest
--   first.
-- Safe to repeat: yes, it only reads.
-- Raises WF105.
-- Plan: sums of the project by key, a page.
-- of_user_id: as in list_projects. Usage counts on the date of the report or heartbeat that reported it.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_project_days(
    tenant_id int, of_user_id int, of_name text, before date, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_project int;
BEGIN
    SELECT p.project_id
    INTO v_project
    FROM weft._find_projects(list_project_days.tenant_id, ARRAY[of_name]) p
    WHERE p.deleted_at IS NULL
        AND (
            of_user_id IS NULL
                OR EXISTS (
                    SELECT
                    FROM weft.billing_member m
                    WHERE m.project_id = p.project_id AND m.user_id = of_user_id
                )
        );
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF105',
            format('billing project "%s" does not exist', of_name),
            'There is no such billing project, or you are not a member of it.',
            '`weft billing` lists yours.'
        );
    END IF;
    RETURN QUERY
    WITH recent AS MATERIALIZED (
        SELECT r.*
        FROM weft._recent_sums(
            ARRAY[v_project], '0001-01-01', coalesce(list_project_days.before, 'infinity') - 1
        ) r
    ),
    page AS MATERIALIZED (
        SELECT d.usage_on
        FROM (
            (
                SELECT DISTINCT x.usage_on
                FROM weft.usage_sum x
                WHERE x.tenant_id = list_project_days.tenant_id
                    AND x.project_id = v_project
                    AND x.user_id = 0
                    AND x.usage_on > '-infinity'
                    AND x.usage_on < coalesce(list_project_days.before, 'infinity')
                    AND (x.cpu, x.memory, x.storage, x.gpu) <> (0, 0, 0, 0)
                ORDER BY 1 DESC
                LIMIT limit_rows
            ) UNION SELECT r.usage_on FROM recent r WHERE (r.cpu, r.memory, r.storage, r.gpu) <> (0, 0, 0, 0)
        ) d
        ORDER BY 1 DESC
        LIMIT limit_rows
    ),
    used AS (
        SELECT
            (u.usage_on - date '2000-01-01')::bigint,
            u.rate_card_id,
            sum(u.cpu),
            sum(u.memory),
            sum(u.storage),
            sum(u.gpu)
        FROM (
            SELECT p.usage_on, s.rate_card_id, s.cpu, s.memory, s.storage, s.gpu
            FROM page p
            CROSS JOIN LATERAL (
                SELECT x.*
                FROM weft.usage_sum x
                WHERE x.tenant_id = list_project_days.tenant_id
                    AND x.project_id = v_project
                    AND x.user_id = 0
                    AND x.usage_on = p.usage_on
                OFFSET 0
            ) s
            UNION ALL
            SELECT r.usage_on, r.rate_card_id, r.cpu, r.memory, r.storage, r.gpu
            FROM recent r
            JOIN page
            USING (usage_on)
        ) u
        GROUP BY u.usage_on, u.rate_card_id
    ),
    costs AS MATERIALIZED (
        SELECT c.* FROM weft._costs_of_parts(ARRAY(SELECT ROW(u.*)::weft.cost_part FROM used u)) c
    )
    SELECT jsonb_build_object('date', d.usage_on, 'cost', c.cost, 'cost_by_resource', c.cost_by_resource)
    FROM page d
    JOIN costs c ON c.owner = d.usage_on - date '2000-01-01'
    ORDER BY d.usage_on DESC;
END $$;
