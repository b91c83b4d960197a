-- _monitor_of: the limits of the queue in which a job of this lane waits; NULL: it has none.
-- Called by: _watch_attempts, stop_overdue, _end_overdue.   Safe to repeat: yes, it only reads.   Plan: lane and queue by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._monitor_of(of_tenant_id int, of_lane_id int) RETURNS jsonb LANGUAGE sql STABLE
AS $$
    SELECT q.monitor FROM weft.queue q WHERE q.tenant_id = of_tenant_id AND q.monitor IS NOT NULL
        AND q.name = coalesce((SELECT l.asks ->> 'queue' FROM weft.lane l WHERE l.lane_id = of_lane_id), 'default')
$$;
