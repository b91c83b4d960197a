-- pool_offers: the offers of the workers that are known, largest first (see _known_workers).
-- Called by: Store.pool_offers (api).   Safe to repeat: yes, it only reads.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.pool_offers() RETURNS TABLE (cpu_m bigint, memory_mib bigint, offers jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT i.cpu_m, i.memory_mib, weft._offers(i)
    FROM weft._known_workers() i
    ORDER BY i.memory_mib DESC, i.cpu_m DESC LIMIT 1000
$$;
