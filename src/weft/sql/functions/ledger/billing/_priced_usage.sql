-- _priced_usage: usage by resource from the milliseconds that shapes ran, and its price: 3,600,000 times the
--   cost, which is exact.
-- Plan: inlined; shapes and rates by key.
-- Arguments: as _costs_of_usage.
-- Returns: one row per owner and resource that it used.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._priced_usage(
    owners bigint[], rate_card_ids smallint[], shape_ids int[], usage_ms_list numeric[]
) RETURNS TABLE (owner bigint, resource_id smallint, usage numeric, price_ms numeric)
LANGUAGE sql STABLE AS $$
    SELECT
        t.owner,
        v.resource_id,
        sum(t.ms * v.quantity),
        sum(t.ms * v.quantity * coalesce(x.price_per_unit_hour, 0))
    FROM unnest(owners, rate_card_ids, shape_ids, usage_ms_list) t (owner, card, shape, ms)
    JOIN weft.shape s ON s.shape_id = t.shape
    CROSS JOIN LATERAL (
        VALUES
            (1::smallint, s.cpu_m),
            (2::smallint, s.memory_mib),
            (3::smallint, s.storage_mib),
            (4::smallint, s.gpu::bigint)
    ) v (resource_id, quantity)
    LEFT JOIN weft.rate x ON x.rate_card_id = t.card AND x.resource_id = v.resource_id
    WHERE v.quantity > 0
    GROUP BY 1, 2
$$;
