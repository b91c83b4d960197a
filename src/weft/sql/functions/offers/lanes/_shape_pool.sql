-- _shape_pool: the pool in which jobs of a shape are offered, as _lane_pool.
-- Plan: the shape and its lane by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._shape_pool(of_shape_id int, of_pool_id int) RETURNS int
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT l.pool_id FROM weft.shape s JOIN weft.lane l USING (lane_id) WHERE s.shape_id = of_shape_id),
        of_pool_id
    )
$$;
