-- _consumes: whether a worker takes jobs of a lane from a transport. No worker serves such a lane, so no
--   other claim sees these jobs. A lane of foreign programs (`foreign`) is theirs only.
-- Plan: the lane by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._consumes(worker weft.worker_incarnation, of_lane_id int) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM weft.lane l
        WHERE l.lane_id = of_lane_id
            AND CASE
                WHEN l.asks ? 'foreign' THEN (worker).offers ? 'foreign'
                ELSE (worker).offers -> 'consumes' @> (l.asks -> 'transport')
                    AND weft._serves(weft._offers(worker), l.asks - 'transport')
            END
    )
$$;
