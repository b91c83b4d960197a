-- next_schedule_run: in how much time another api may submit a run that one has taken.
-- Plan: runs that wait, which are few.   Returns: negative: now; NULL: no run waits.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.next_schedule_run() RETURNS interval LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT min(coalesce(r.taken_until, clock_timestamp())) - clock_timestamp() FROM weft.schedule_run r WHERE r.ended_at IS NULL
$$;
