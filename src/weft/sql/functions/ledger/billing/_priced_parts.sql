-- _priced_parts: usage by resource and its price: 3,600,000 times the cost, which is exact.
-- Plan: inlined; rates by key.
-- Returns: one row per owner and resource that it used.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._priced_parts(parts weft.cost_part[])
RETURNS TABLE (owner bigint, resource_id smallint, usage numeric, price_ms numeric) LANGUAGE sql STABLE AS $$
    SELECT p.owner, v.resource_id, sum(v.amount), sum(v.amount * coalesce(x.price_per_unit_hour, 0))
    FROM unnest(parts) p
    CROSS JOIN LATERAL (
        VALUES (1::smallint, p.cpu), (2::smallint, p.memory), (3::smallint, p.storage), (4::smallint, p.gpu)
    ) v (resource_id, amount)
    LEFT JOIN weft.rate x ON x.rate_card_id = p.rate_card_id AND x.resource_id = v.resource_id
    WHERE v.amount <> 0
    GROUP BY 1, 2
$$;
