-- _is_paused: whether jobs of this shape recently passed a gate of this set but were not claimed in this
--   pool.
-- Plan: pauses by key; there are few.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._is_paused(
    of_gate_set_id int, of_pool_id int, of_shape_id int, at timestamptz
) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.gate_member m
        JOIN weft.gate_pause u ON u.gate_id = m.gate_id
        WHERE m.gate_set_id = of_gate_set_id
            AND u.pool_id = of_pool_id
            AND u.shape_id = of_shape_id
            AND u.until_at > _is_paused.at
    )
$$;
