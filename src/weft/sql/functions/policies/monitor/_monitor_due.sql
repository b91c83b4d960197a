-- _monitor_due: in how much time the driver must look at an attempt with limits, or at one that it stopped; NULL: there is none.
-- Plan: the first of both by date.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._monitor_due() RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT least((SELECT min(w.due_at) FROM weft.attempt_watch w), (SELECT min(s.due_at) FROM weft.attempt_stop s)) - clock_timestamp()
$$;
