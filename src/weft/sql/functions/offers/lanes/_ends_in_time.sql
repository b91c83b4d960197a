-- _ends_in_time: whether jobs of a lane that a worker claims now end before its machine does. For a minute it
--   takes all that it serves.
-- Safe to repeat: yes, it reads its arguments only.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._ends_in_time(worker weft.worker_incarnation, asks jsonb, at timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce((weft._limit_range(asks)).at_most_s <= weft._time_left_s(worker, at), false)
$$;
