-- _prices: what a millisecond of a shape costs by the rates of a rate card, times 3,600,000: in all, and by
--   resource (NULL: it asks for none). As _priced_usage.
-- Plan: inlined; by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._prices(of_rate_card_id smallint, of_shape_id int) RETURNS TABLE (
    price numeric, cpu_m bigint, of_cpu numeric, of_memory numeric, of_storage numeric, of_gpu numeric
) LANGUAGE sql STABLE AS $$
    SELECT
        s.cpu_m * r.cpu + s.memory_mib * r.memory + s.storage_mib * r.storage + s.gpu * r.gpu,
        s.cpu_m,
        s.cpu_m * r.cpu,
        nullif(s.memory_mib, 0) * r.memory,
        nullif(s.storage_mib, 0) * r.storage,
        nullif(s.gpu, 0) * r.gpu
    FROM weft.shape s
    CROSS JOIN (
        SELECT
            coalesce(max(x.price_per_unit_hour) FILTER (WHERE x.resource_id = 1), 0) AS cpu,
            coalesce(max(x.price_per_unit_hour) FILTER (WHERE x.resource_id = 2), 0) AS memory,
            coalesce(max(x.price_per_unit_hour) FILTER (WHERE x.resource_id = 3), 0) AS storage,
            coalesce(max(x.price_per_unit_hour) FILTER (WHERE x.resource_id = 4), 0) AS gpu
        FROM weft.rate x
        WHERE x.rate_card_id = of_rate_card_id
    ) r
    WHERE s.shape_id = of_shape_id
$$;
