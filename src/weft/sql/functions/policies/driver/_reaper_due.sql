-- _reaper_due: in how much time the next worker is lost; negative: it is overdue; NULL: there is no worker.
-- Plan: incarnations that live.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._reaper_due(grace_s double precision) RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT min(i.heartbeat_at) + _reaper_due.grace_s * interval '1 second' - clock_timestamp()
    FROM weft.worker_incarnation i WHERE i.ended_at IS NULL AND NOT i.outlives
$$;
