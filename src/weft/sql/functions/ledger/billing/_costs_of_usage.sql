-- _costs_of_usage: cost and usage by resource, from the milliseconds that shapes ran and the rates of rate
--   cards; computed when read.
-- Plan: shapes and rates by key.
-- Arguments: rows of equal length; `owners` numbers the owner of each row as the caller likes. Numeric,
--   because a project's usage times a shape's memory may exceed a bigint.
-- Returns: one row per owner: the cost, and the resources in the order of the documents.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._costs_of_usage(
    owners bigint[], rate_card_ids smallint[], shape_ids int[], usage_ms_list numeric[]
) RETURNS TABLE (owner bigint, cost numeric, cost_by_resource jsonb) LANGUAGE sql STABLE AS $$
    SELECT
        s.owner,
        sum(s.price_ms / 3600000),
        jsonb_agg(
            jsonb_build_object(
                'resource', r.name, 'usage', s.usage, 'unit', r.unit, 'cost', round(s.price_ms / 3600000, 12)
            ) ORDER BY r.resource_id
        )
    FROM weft._priced_usage(owners, rate_card_ids, shape_ids, usage_ms_list) s
    JOIN weft.resource r
    USING (resource_id)
    GROUP BY s.owner
$$;
