-- _costs_under_rates: what was used under a version of the prices costs, by billing project.
-- Plan: as _project_usage, of all projects.   Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._costs_under_rates(version smallint) RETURNS TABLE (project_id int, cost numeric) LANGUAGE sql STABLE AS $$
    WITH used AS (
        SELECT x.project_id, x.shape_id, sum(x.usage_ms) AS ms
        FROM weft._project_usage((SELECT array_agg(p.project_id) FROM weft.billing_project p)) x
        WHERE x.rate_card_id = _costs_under_rates.version GROUP BY 1, 2),
    listed AS (
        SELECT array_agg(u.project_id::bigint) AS owners, array_agg(_costs_under_rates.version) AS cards, array_agg(u.shape_id) AS shapes,
            array_agg(u.ms) AS mss FROM used u)
    SELECT c.owner::int, c.cost FROM listed l CROSS JOIN LATERAL weft._costs_of_usage(l.owners, l.cards, l.shapes, l.mss) c
$$;
