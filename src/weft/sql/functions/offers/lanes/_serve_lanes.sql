-- _serve_lanes: assign an incarnation to every lane that it can serve.
-- Safe to repeat: yes.   Locks: lanes (by the caller). No lane is added meanwhile.   Plan: all lanes, which are few.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._serve_lanes(of_incarnation_id int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO weft.worker_lane (incarnation_id, lane_id)
    SELECT i.incarnation_id, l.lane_id
    FROM weft.worker_incarnation i CROSS JOIN weft.lane l
    WHERE i.incarnation_id = of_incarnation_id AND weft._serves(weft._offers(i), l.asks)
    ON CONFLICT DO NOTHING
$$;
