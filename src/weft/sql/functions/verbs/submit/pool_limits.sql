-- pool_limits: sizes of the workers that are known, largest first. Kept for one release: pool_offers returns more.
-- Called by: the api of an older program.   Safe to repeat: yes, it only reads.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.pool_limits() RETURNS TABLE (cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu int)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT i.cpu_m, i.memory_mib, i.storage_mib, i.gpu
    FROM weft._known_workers() i
    ORDER BY i.memory_mib DESC, i.cpu_m DESC LIMIT 1000
$$;
