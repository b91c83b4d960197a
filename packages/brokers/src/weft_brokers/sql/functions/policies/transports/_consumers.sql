-- _consumers: how many jobs of a queue the workers that consume it from a transport can run at a time, and
--   the most cpu and memory that one of them has. A worker without slots has one for each core.
-- Plan: live workers of the pool.
-- Returns: slots: NULL if there are none.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._consumers(of_pool_id int, of_transport text, of_queue text)
RETURNS TABLE (workers int, slots int, cpu_m bigint, memory_mib bigint) LANGUAGE sql STABLE AS $$
    SELECT
        count(*)::int,
        sum(coalesce((i.offers ->> 'slots')::int, greatest(i.cpu_m / 1000, 1)))::int,
        max(i.cpu_m),
        max(i.memory_mib)
    FROM weft.worker_incarnation i
    WHERE i.pool_id = of_pool_id
        AND i.ended_at IS NULL
        AND NOT i.draining
        AND NOT i.cordoned
        AND NOT i.trying
        AND i.offers -> 'consumes' @> to_jsonb(of_transport)
        AND (NOT i.offers ? 'queue' OR i.offers -> 'queue' @> to_jsonb(of_queue))
$$;
