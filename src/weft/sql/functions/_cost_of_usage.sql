-- _cost_of_usage: money and usage by resource of milliseconds that shapes ran at the prices of cards; computed when read.
-- Called by: list_projects, list_project_days.   Safe to repeat: yes, it only reads.   Plan: shapes and rates by key.
-- Returns: one row: the cost, and the resources in their order as the documents show them.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._cost_of_usage(rate_card_ids smallint[], shape_ids int[], usage_mss bigint[])
RETURNS TABLE (cost numeric, cost_by_resource jsonb) LANGUAGE sql STABLE
AS $$
    WITH sums AS (
        SELECT v.resource_id, sum(t.ms * v.quantity) AS usage, sum(t.ms * v.quantity * coalesce(x.price_per_unit_hour, 0)) / 3600000 AS cost
        FROM unnest(rate_card_ids, shape_ids, usage_mss) t (card, shape, ms)
        JOIN weft.shape s ON s.shape_id = t.shape
        CROSS JOIN LATERAL (VALUES (1::smallint, s.cpu_m), (2::smallint, s.memory_mib), (3::smallint, s.storage_mib), (4::smallint, s.gpu::bigint)) v (resource_id, quantity)
        LEFT JOIN weft.rate x ON x.rate_card_id = t.card AND x.resource_id = v.resource_id
        WHERE v.quantity > 0 GROUP BY v.resource_id)
    SELECT coalesce(sum(s.cost), 0),
           coalesce(jsonb_agg(jsonb_build_object('resource', r.name, 'usage', s.usage, 'unit', r.unit, 'cost', round(s.cost, 12)) ORDER BY r.resource_id), '[]')
    FROM sums s JOIN weft.resource r USING (resource_id)
$$;
