-- billing_report: what billing projects cost in a period of dates (UTC, both included; NULL: no bound), by project, user, day, resource, or
--   the value of an attribute of their batches.
-- Called by: Store.billing_report (api).   Safe to repeat: yes, it only reads.
-- Plan: as _report_parts: sums, not jobs; by attribute at most rows_max sums of batches are read.
-- of_user_id: only the projects of this member; NULL: all of the tenant, deleted ones too.   of_project NULL: all of these.
-- Each cost is rounded to 12 digits in such a way that the costs of all rows add up to the rounded cost of all, however it is divided.
-- Returns: name, kind (value; none: the batches lack the attribute; unknown: see _report_parts), cost and those of resources, as text.
-- Raises WF105 (no such project), WF133 (too many batches).
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.billing_report(tenant_id int, of_user_id int, of_project text, by text, attribute text, since date,
    until date, rows_max int) RETURNS SETOF jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_project int[]; v_since date := coalesce(since, '-infinity'); v_until date := coalesce(until, 'infinity');
BEGIN
    PERFORM weft._as_tenant(billing_report.tenant_id);
    v_project := ARRAY(
        SELECT p.project_id FROM weft.billing_project p
        WHERE p.tenant_id = billing_report.tenant_id AND (of_project IS NULL OR lower(p.name) = lower(of_project))
            AND (of_user_id IS NULL OR EXISTS (
                SELECT FROM weft.billing_member m WHERE m.project_id = p.project_id AND m.user_id = of_user_id)));
    IF of_project IS NOT NULL AND v_project = '{}' THEN
        PERFORM weft._fail('WF105', format('billing project "%s" does not exist', of_project),
            'There is no such billing project, or you are not a member of it.', '`weft billing` lists yours.');
    END IF;
    IF billing_report.by = 'attribute' AND EXISTS (
        SELECT FROM weft.batch_usage u WHERE u.project_id = ANY (v_project) AND u.usage_on BETWEEN v_since AND v_until
        OFFSET billing_report.rows_max) THEN
        PERFORM weft._fail('WF133', 'the report covers too many batches',
            format('By attribute it would read more than %s sums of batches.', billing_report.rows_max),
            'Ask for one project or a shorter period; reports by project, user, day or resource have no such limit.');
    END IF;
    RETURN QUERY
    WITH part AS MATERIALIZED (
        SELECT r.*, dense_rank() OVER (ORDER BY r.is_known DESC, r.name NULLS LAST) AS owner
        FROM weft._report_parts(v_project, billing_report.by, billing_report.attribute, v_since, v_until) r),
    used AS (SELECT array_agg(p.owner) AS owners, array_agg(p.rate_card_id) AS cards, array_agg(p.shape_id) AS shapes,
        array_agg(p.ms) AS mss FROM part p),
    priced AS MATERIALIZED (SELECT x.* FROM used u CROSS JOIN LATERAL weft._priced_usage(u.owners, u.cards, u.shapes, u.mss) x),
    rounded AS (
        SELECT x.owner, r.resource_id, r.name AS resource, r.unit, x.usage,
            round(sum(x.price_ms) OVER w / 3600000, 12) - round((sum(x.price_ms) OVER w - x.price_ms) / 3600000, 12) AS cost
        FROM priced x JOIN weft.resource r USING (resource_id) WINDOW w AS (ORDER BY x.owner, r.resource_id)),
    named AS (SELECT DISTINCT p.owner, p.name, p.is_known FROM part p)
    SELECT jsonb_build_object(
        'name', coalesce(n.name, min(x.resource) FILTER (WHERE billing_report.by = 'resource')),
        'kind', CASE WHEN NOT n.is_known THEN 'unknown' WHEN n.name IS NULL AND billing_report.by = 'attribute' THEN 'none'
            ELSE 'value' END,
        'cost', trim_scale(sum(x.cost))::text,
        'cost_by_resource', jsonb_agg(jsonb_build_object('resource', x.resource, 'usage', x.usage, 'unit', x.unit,
            'cost', trim_scale(x.cost)::text) ORDER BY x.resource_id))
    FROM rounded x JOIN named n USING (owner)
    GROUP BY x.owner, n.name, n.is_known, CASE WHEN billing_report.by = 'resource' THEN x.resource_id END
    ORDER BY x.owner, min(x.resource_id);
END $$;
