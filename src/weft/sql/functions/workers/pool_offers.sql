-- pool_offers: the offers of live workers, largest first; the last known offers if none lives.
-- Called by: Store.pool_offers (api).   Safe to repeat: yes, it only reads.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.pool_offers() RETURNS TABLE (cpu_m bigint, memory_mib bigint, offers jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT i.cpu_m, i.memory_mib, weft._offers(i)
    FROM (SELECT DISTINCT ON (x.worker_id) x.* FROM weft.worker_incarnation x ORDER BY x.worker_id, x.incarnation_id DESC) w
    JOIN weft.worker_incarnation i USING (incarnation_id)
    ORDER BY i.memory_mib DESC, i.cpu_m DESC LIMIT 1000
$$;
