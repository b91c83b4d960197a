-- _monitor_of: the limits of the queue in which a job of this lane waits, with those of its lifecycle, which
--   win; NULL: it has none.
-- Plan: lane, queue and lifecycle by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._monitor_of(of_tenant_id int, of_lane_id int, of_lifecycle_id int)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN x.of_queue IS NULL OR x.of_lifecycle IS NULL THEN coalesce(x.of_queue, x.of_lifecycle)
        ELSE x.of_queue || x.of_lifecycle
    END
    FROM (
        SELECT
            (
                SELECT q.monitor
                FROM weft.queue q
                WHERE q.tenant_id = of_tenant_id
                    AND q.monitor IS NOT NULL
                    AND q.name = coalesce(
                        (SELECT l.asks ->> 'queue' FROM weft.lane l WHERE l.lane_id = of_lane_id), 'default'
                    )
            ) AS of_queue,
            (SELECT l.limits -> 'monitor' FROM weft.lifecycle l WHERE l.lifecycle_id = of_lifecycle_id) AS
                of_lifecycle
    ) x
$$;
