-- _used_per_hour: what these resources use in an hour, in the measure of a limit.
-- Plan: rates by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._used_per_hour(
    of_measure text,
    cpu_m numeric,
    memory_mib numeric,
    storage_mib numeric,
    gpu numeric,
    of_rate_card_id smallint
) RETURNS numeric LANGUAGE sql STABLE AS $$
    SELECT CASE of_measure
        WHEN 'cpu' THEN cpu_m / 1000
        WHEN 'memory' THEN memory_mib / 1024
        WHEN 'storage' THEN storage_mib / 1024
        WHEN 'gpu' THEN gpu
        ELSE (
            SELECT coalesce(sum(v.quantity * r.price_per_unit_hour), 0)
            FROM (
                VALUES
                    (1::smallint, cpu_m),
                    (2::smallint, memory_mib),
                    (3::smallint, storage_mib),
                    (4::smallint, gpu)
            ) v (resource_id, quantity)
            JOIN weft.rate r ON r.rate_card_id = of_rate_card_id AND r.resource_id = v.resource_id
        )
    END
$$;
