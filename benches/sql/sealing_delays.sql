-- sealing_delays: the seconds from each entry of the trail after number $1 to the call that sealed it.
SELECT extract(epoch FROM t.sealed_at - t.at)::double precision FROM weft.trail_entry t WHERE t.number > $1
