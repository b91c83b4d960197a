-- _user_lanes: the lanes in which a user has work that waits in a pool, in the order of their numbers.
-- Plan: two probes of an index for each lane.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._user_lanes(of_pool_id int, of_user_id int, limit_lanes int) RETURNS SETOF int
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_lane int := -1;
BEGIN
    FOR i IN 1..limit_lanes LOOP
        SELECT least(
            (
                SELECT r.lane_id
                FROM weft.ready_job r
                WHERE r.gate_set_id = 0
                    AND r.pool_id = of_pool_id
                    AND r.user_id = of_user_id
                    AND r.lane_id > v_lane
                ORDER BY r.lane_id
                LIMIT 1
            ),
            (
                SELECT r.lane_id
                FROM weft.runnable r
                WHERE r.gate_set_id = 0
                    AND r.pool_id = of_pool_id
                    AND r.user_id = of_user_id
                    AND r.lane_id > v_lane
                ORDER BY r.lane_id
                LIMIT 1
            )
        )
        INTO v_lane;
        EXIT WHEN v_lane IS NULL;
        RETURN NEXT v_lane;
    END LOOP;
END $$;
