-- _time_left_s: the longest time limit that ends before a worker's machine does. Its offer is that of its
--   first minute.
-- Safe to repeat: yes, it reads its arguments only.
-- Returns: NULL: the machine does not end by itself.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._time_left_s(worker weft.worker_incarnation, at timestamptz) RETURNS int
LANGUAGE sql IMMUTABLE AS $$
    SELECT greatest(
        (worker.offers ->> 'timeout_s')::int + 60 - date_part('epoch', at - worker.registered_at), 0
    )::int
$$;
