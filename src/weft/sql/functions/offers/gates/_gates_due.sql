-- _gates_due: in how much time the driver has something to do at gates that no notice tells: a gate opens, a
--   place comes back, a pause ends, or a job that was admitted and not claimed must give its place to
--   another; negative: it is overdue; NULL: nothing will be due.
-- Plan: the first gate and the first place by date; pauses, which are few; as _stuck_places.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._gates_due() RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT least(
        (SELECT min(g.opens_at) FROM weft.gate g WHERE isfinite(g.opens_at)),
        (SELECT min(r.due_at) FROM weft.gate_return r),
        (SELECT min(u.until_at) FROM weft.gate_pause u),
        (SELECT min(s.stuck_at) FROM weft._stuck_places(clock_timestamp(), 'infinity') s)
    ) - clock_timestamp()
$$;
