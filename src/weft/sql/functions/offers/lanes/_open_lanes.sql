-- _open_lanes: the lanes of a worker whose machine ends from which it may claim now.
-- Plan: its lanes by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._open_lanes(worker weft.worker_incarnation, at timestamptz) RETURNS int[]
LANGUAGE sql STABLE AS $$
    SELECT ARRAY(
        SELECT w.lane_id
        FROM weft.worker_lane w
        CROSS JOIN LATERAL (SELECT x.asks FROM weft.lane x WHERE x.lane_id = w.lane_id OFFSET 0) l
        WHERE w.incarnation_id = worker.incarnation_id AND weft._ends_in_time(worker, l.asks, at)
    )
$$;
