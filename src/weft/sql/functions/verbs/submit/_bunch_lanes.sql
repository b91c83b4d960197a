-- _bunch_lanes: the sections of a bunch whose ready jobs can be ranges: their first positions, from 1, and their lanes.
-- shape_lanes: the lane of each shape; shape_indexes: the shape of each entry, from 0; entry_ns: their numbers of jobs, empty: one each.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._bunch_lanes(shape_lanes int[], shape_indexes int[], entry_ns int[], OUT firsts int[], OUT lane_ids int[])
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF cardinality(shape_indexes) > 1 AND EXISTS (SELECT FROM unnest(shape_lanes) l WHERE l <> shape_lanes[1]) THEN
        SELECT s.firsts, s.lane_ids INTO _bunch_lanes.firsts, _bunch_lanes.lane_ids
        FROM weft._lane_sections(ARRAY(SELECT shape_lanes[t.s + 1] FROM unnest(shape_indexes) WITH ORDINALITY t (s, n) ORDER BY t.n),
            nullif(entry_ns, '{}')) s;
    ELSE
        firsts := '{1}';
        lane_ids := ARRAY[shape_lanes[shape_indexes[1] + 1]];
    END IF;
END $$;
