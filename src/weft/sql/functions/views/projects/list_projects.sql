-- list_projects: documents of the billing projects that a user is a member of (NULL: of all), by name.
-- Safe to repeat: yes, it only reads.
-- Plan: projects of the tenant by name, a page, or those of the user; one sum of each by key; as
--   _project_forecasts.
-- Raises WF105.
-- of_name: only this one, which has to exist; of_names: only these; after_name: those after this name;
--   limit_rows: at most this number; NULL: all.
-- members_max: at most this number of members of each, in the order of their numbers, and whether it
--   `has_more_members`; NULL: all of them, by name.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_projects(
    tenant_id int,
    of_user_id int,
    of_name text,
    of_names text[],
    after_name text,
    limit_rows int,
    members_max int
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    WITH mine AS MATERIALIZED (
        SELECT o.*
        FROM (
            (
                SELECT p.*
                FROM weft.billing_project p
                WHERE of_user_id IS NULL
                    AND of_name IS NULL
                    AND of_names IS NULL
                    AND p.tenant_id = list_projects.tenant_id
                    AND p.name > coalesce(after_name, '')
                    AND p.deleted_at IS NULL
                ORDER BY p.name
                LIMIT limit_rows
            ) UNION ALL SELECT p.* FROM weft._find_projects(
                list_projects.tenant_id, coalesce(of_names, ARRAY[of_name])
            ) p WHERE p.deleted_at IS NULL
                AND (
                    of_user_id IS NULL
                        OR EXISTS (
                            SELECT
                            FROM weft.billing_member m
                            WHERE m.project_id = p.project_id AND m.user_id = of_user_id
                        )
                ) UNION ALL SELECT p.* FROM weft.billing_member m CROSS JOIN LATERAL (
                    SELECT x.*
                    FROM weft.billing_project x
                    WHERE x.project_id = m.project_id AND x.deleted_at IS NULL
                    OFFSET 0
                ) p WHERE of_name IS NULL
                AND of_names IS NULL
                AND m.user_id = of_user_id
                AND p.name > coalesce(after_name, '')
        ) o
        ORDER BY o.name
        LIMIT limit_rows
    ),
    used AS (
        SELECT u.project_id::bigint, u.rate_card_id, sum(u.cpu), sum(u.memory), sum(u.storage), sum(u.gpu)
        FROM (
            SELECT s.project_id, s.rate_card_id, s.cpu, s.memory, s.storage, s.gpu
            FROM mine m
            CROSS JOIN LATERAL (
                SELECT x.*
                FROM weft.usage_sum x
                WHERE x.tenant_id = list_projects.tenant_id
                    AND x.project_id = m.project_id
                    AND x.user_id = 0
                    AND x.usage_on = '-infinity'
                OFFSET 0
            ) s
            UNION ALL
            SELECT r.project_id, r.rate_card_id, r.cpu, r.memory, r.storage, r.gpu
            FROM weft._recent_sums(ARRAY(SELECT m.project_id FROM mine m), '0001-01-01', 'infinity') r
        ) u
        GROUP BY 1, 2
    ),
    costs AS MATERIALIZED (
        SELECT c.* FROM weft._costs_of_parts(ARRAY(SELECT ROW(u.*)::weft.cost_part FROM used u)) c
    )
    SELECT jsonb_build_object(
        'name', m.name,
        'closed', m.closed_at IS NOT NULL,
        'cost', coalesce(c.cost, 0),
        'cost_by_resource', coalesce(c.cost_by_resource, '[]')
    ) || weft._members_of(m.project_id, members_max) || coalesce(
        f.facts,
        '{"cost_max": null, "cost_soft_max": null, "on_limit": "pause", "limit_state": "below",
            "cost_per_hour": null, "limit_in_s": null}'
    )
    FROM mine m
    LEFT JOIN costs c ON c.owner = m.project_id
    LEFT JOIN weft._project_forecasts((SELECT array_agg(x.project_id) FROM mine x)) f
        ON f.project_id = m.project_id
    ORDER BY m.name;
    IF NOT FOUND AND of_name IS NOT NULL THEN
        PERFORM weft._fail(
            'WF105',
            format('billing project "%s" does not exist', of_name),
            'There is no such billing project, or you are not a member of it.',
            '`weft billing` lists yours.'
        );
    END IF;
END $$;
