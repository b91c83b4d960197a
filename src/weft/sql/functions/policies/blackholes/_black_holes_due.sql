-- _black_holes_due: in how much time a worker that was cordoned as a black hole may try a job; negative: now; NULL: none will.
-- Plan: as _black_holes.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._black_holes_due() RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT min(b.due_at) - clock_timestamp() FROM weft._black_holes() b
$$;
