-- _costs_of_parts: cost and usage by resource, as _costs_of_usage, from what was used of each resource.
-- Plan: as _priced_parts.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._costs_of_parts(parts weft.cost_part[])
RETURNS TABLE (owner bigint, cost numeric, cost_by_resource jsonb) LANGUAGE sql STABLE AS $$
    SELECT
        s.owner,
        sum(s.price_ms / 3600000),
        jsonb_agg(
            jsonb_build_object(
                'resource', r.name, 'usage', s.usage, 'unit', r.unit, 'cost', round(s.price_ms / 3600000, 12)
            ) ORDER BY r.resource_id
        )
    FROM weft._priced_parts(parts) s
    JOIN weft.resource r
    USING (resource_id)
    GROUP BY s.owner
$$;
