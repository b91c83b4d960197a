-- list_projects_v2: documents of the billing projects that a user is a member of (NULL: of all), by name.
-- Called by: Store.list_projects (api).   Safe to repeat: yes, it only reads.   Plan: projects of the tenant by name, a page; usage by key;
--   as _project_forecasts.   Raises WF105.
-- of_name: only this one, which has to exist; of_names: only these; after_name: those after this name; limit_rows: at most this number;
--   NULL: all.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_projects_v2(tenant_id int, of_user_id int, of_name text, of_names text[], after_name text,
    limit_rows int) RETURNS SETOF jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM weft._as_tenant(list_projects_v2.tenant_id);
    RETURN QUERY
    WITH mine AS MATERIALIZED (
        SELECT p.* FROM weft.billing_project p
        WHERE p.tenant_id = list_projects_v2.tenant_id AND (of_name IS NULL OR lower(p.name) = lower(of_name)) AND p.deleted_at IS NULL
            AND (of_names IS NULL OR p.name = ANY (of_names)) AND (after_name IS NULL OR p.name > after_name)
            AND (of_user_id IS NULL OR EXISTS (
                SELECT FROM weft.billing_member m WHERE m.project_id = p.project_id AND m.user_id = of_user_id))
        ORDER BY p.name LIMIT limit_rows),
    used AS MATERIALIZED (
        SELECT array_agg(u.project_id::bigint) AS owners, array_agg(u.rate_card_id) AS cards, array_agg(u.shape_id) AS shapes,
            array_agg(u.ms) AS mss FROM (
            SELECT x.project_id, x.rate_card_id, x.shape_id, sum(x.usage_ms) AS ms
            FROM weft._project_usage((SELECT array_agg(m.project_id) FROM mine m)) x GROUP BY 1, 2, 3) u),
    costs AS MATERIALIZED (SELECT c.* FROM used u CROSS JOIN LATERAL weft._costs_of_usage(u.owners, u.cards, u.shapes, u.mss) c)
    SELECT jsonb_build_object('name', m.name, 'closed', m.closed_at IS NOT NULL,
        'cost', coalesce(c.cost, 0), 'cost_by_resource', coalesce(c.cost_by_resource, '[]'),
        'members', (SELECT coalesce(jsonb_agg(t.name ORDER BY t.name), '[]')
            FROM weft.billing_member b JOIN weft.tenant_user t USING (user_id)
            WHERE b.project_id = m.project_id))
        || coalesce(f.facts, '{"cost_max": null, "cost_soft_max": null, "on_limit": "pause", "limit_state": "below",
            "cost_per_hour": null, "limit_in_s": null}')
    FROM mine m LEFT JOIN costs c ON c.owner = m.project_id
    LEFT JOIN weft._project_forecasts((SELECT array_agg(x.project_id) FROM mine x)) f ON f.project_id = m.project_id
    ORDER BY m.name;
    IF NOT FOUND AND of_name IS NOT NULL THEN
        PERFORM weft._fail('WF105', format('billing project "%s" does not exist', of_name),
                           'There is no such billing project, or you are not a member of it.',
                               '`weft billing` lists yours.');
    END IF;
END $$;
