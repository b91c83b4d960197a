-- list_project_days: the cost of a billing project on each date (UTC) with usage, before `before`, newest first.
-- Called by: Store.list_project_days (api).   Safe to repeat: yes, it only reads.   Plan: usage of the project by key.   Raises WF105.
-- of_user_id: as in list_projects. Usage counts on the date of the report or heartbeat that reported it.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_project_days(tenant_id int, of_user_id int, of_name text, before date, limit_rows int)
    RETURNS SETOF jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_project int;
BEGIN
    PERFORM weft._as_tenant(list_project_days.tenant_id);
    SELECT p.project_id INTO v_project FROM weft.billing_project p
    WHERE p.tenant_id = list_project_days.tenant_id AND lower(p.name) = lower(of_name) AND p.deleted_at IS NULL
        AND (of_user_id IS NULL OR EXISTS (
            SELECT FROM weft.billing_member m WHERE m.project_id = p.project_id AND m.user_id = of_user_id));
    IF NOT FOUND THEN
        PERFORM weft._fail('WF105', format('billing project "%s" does not exist', of_name),
                           'There is no such billing project, or you are not a member of it.',
                               '`weft billing` lists yours.');
    END IF;
    RETURN QUERY
    WITH part AS MATERIALIZED (
        SELECT x.usage_on, x.rate_card_id, x.shape_id, sum(x.usage_ms) AS ms FROM weft._project_usage(ARRAY[v_project]) x
        WHERE x.usage_on < coalesce(list_project_days.before, 'infinity') GROUP BY 1, 2, 3 HAVING sum(x.usage_ms) <> 0),
    page AS (SELECT p.usage_on, p.usage_on - date '2000-01-01' AS owner FROM part p GROUP BY 1 ORDER BY 1 DESC LIMIT limit_rows),
    used AS (
        SELECT array_agg(d.owner::bigint) AS owners, array_agg(p.rate_card_id) AS cards, array_agg(p.shape_id) AS shapes,
            array_agg(p.ms) AS mss
        FROM part p JOIN page d USING (usage_on)),
    costs AS MATERIALIZED (SELECT c.* FROM used u CROSS JOIN LATERAL weft._costs_of_usage(u.owners, u.cards, u.shapes, u.mss) c)
    SELECT jsonb_build_object('date', d.usage_on, 'cost', c.cost, 'cost_by_resource', c.cost_by_resource)
    FROM page d JOIN costs c ON c.owner = d.owner ORDER BY d.usage_on DESC;
END $$;
