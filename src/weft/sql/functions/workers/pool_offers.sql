-- pool_offers: the offers of the workers that are known (see _known_workers), and of those that pools may have, largest first.
-- Called by: Store.pool_offers (api).   Safe to repeat: yes, it only reads.   Plan: as _known_workers; the few pools.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.pool_offers() RETURNS TABLE (cpu_m bigint, memory_mib bigint, offers jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT x.cpu_m, x.memory_mib, x.offers FROM (
        SELECT i.cpu_m, i.memory_mib, weft._offers(i) AS offers FROM weft._known_workers() i
        UNION ALL
        SELECT f.cpu_m, f.memory_mib, f.offers FROM weft.pool p CROSS JOIN LATERAL weft._flavours(p) f) x
    ORDER BY x.memory_mib DESC, x.cpu_m DESC LIMIT 1000
$$;
