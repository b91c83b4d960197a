-- last_sealed: the number of the last entry of the trail.
SELECT h.number FROM weft.trail_head h
