-- _costs_under_rates: what was used under a version of the prices costs, by billing project.
-- Plan: all sums of projects; the unfolded deltas once.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._costs_under_rates(version smallint)
RETURNS TABLE (project_id int, cost numeric) LANGUAGE sql STABLE AS $$
    WITH used AS (
        SELECT x.project_id, x.shape_id, sum(x.usage_ms) AS ms
        FROM (
            SELECT u.project_id, u.rate_card_id, u.shape_id, u.usage_ms
            FROM weft.billing_project p
            JOIN weft.project_usage u
            USING (project_id)
            UNION ALL
            SELECT r.project_id, r.rate_card_id, r.shape_id, r.usage_ms
            FROM weft._recent_usage() r
            JOIN weft.billing_project p
            USING (project_id)
        ) x
        WHERE x.rate_card_id = _costs_under_rates.version
        GROUP BY 1, 2
    ),
    listed AS (
        SELECT
            array_agg(u.project_id::bigint) AS owners,
            array_agg(_costs_under_rates.version) AS cards,
            array_agg(u.shape_id) AS shapes,
            array_agg(u.ms) AS mss
        FROM used u
    )
    SELECT c.owner::int, c.cost
    FROM listed l
    CROSS JOIN LATERAL weft._costs_of_usage(l.owners, l.cards, l.shapes, l.mss) c
$$;
