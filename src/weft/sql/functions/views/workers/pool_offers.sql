-- pool_offers: the offers of the workers that are known (see _known_workers), and of those that pools may
--   have, largest first.
-- Plan: as _known_workers; the few pools.
-- Returns: with the tenant that the pool belongs to; NULL: all share it. At most 1,000 of each: the large
--   workers of one tenant push out none of those that all share.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.pool_offers()
RETURNS TABLE (cpu_m bigint, memory_mib bigint, offers jsonb, serves_tenant_id int) LANGUAGE sql STABLE AS $$
    SELECT y.cpu_m, y.memory_mib, y.offers, y.serves_tenant_id
    FROM (
        SELECT
            x.*,
            row_number()
                OVER (PARTITION BY x.serves_tenant_id ORDER BY x.memory_mib DESC, x.cpu_m DESC) AS place
        FROM (
            SELECT i.cpu_m, i.memory_mib, weft._offers(i) AS offers, p.serves_tenant_id
            FROM weft._known_workers() i
            JOIN weft.pool p ON p.pool_id = i.pool_id
            UNION ALL
            SELECT f.cpu_m, f.memory_mib, f.offers, p.serves_tenant_id
            FROM weft.pool p
            CROSS JOIN LATERAL weft._flavours(p) f
        ) x
    ) y
    WHERE y.place <= 1000
    ORDER BY y.memory_mib DESC, y.cpu_m DESC
$$;
