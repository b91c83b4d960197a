-- _lane_pool: the pool in which jobs of a lane are offered: that of their queue; if the lane names no queue,
--   this one.
-- Plan: the lane by key, unless it is lane 0.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lane_pool(of_lane_id int, of_pool_id int) RETURNS int
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN of_lane_id = 0 THEN of_pool_id
        ELSE coalesce((SELECT l.pool_id FROM weft.lane l WHERE l.lane_id = of_lane_id), of_pool_id)
    END
$$;
