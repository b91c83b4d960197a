-- _lane_sections: where runs of neighbours of one lane begin in a bunch whose entries have these lanes and numbers of jobs (NULL: one job
--   each). Runs shorter than 100 jobs join the section around them; jobs in it of other lanes are listed.
-- Returns: first positions, from 1, and their lanes.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lane_sections(lanes int[], ns int[], OUT firsts int[], OUT lane_ids int[]) LANGUAGE sql IMMUTABLE AS $$
    SELECT 1 || (array_agg(r.first ORDER BY r.first))[2:], coalesce(array_agg(r.lane ORDER BY r.first), lanes[1:1])
    FROM (
        SELECT min(t.first)::int AS first, t.lane FROM (
            SELECT e.lane, e.n, 1 + sum(e.n) OVER (ORDER BY e.place) - e.n AS first,
                   e.place - row_number() OVER (PARTITION BY e.lane ORDER BY e.place) AS run
            FROM (SELECT u.lane, coalesce(u.n, 1) AS n, u.place FROM unnest(lanes, ns) WITH ORDINALITY u (lane, n, place)) e) t
        GROUP BY t.lane, t.run HAVING sum(t.n) >= 100) r
$$;
