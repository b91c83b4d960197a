-- _tell_room: wake a sleeping worker whose offered resources may be free again. Other workers wait for their own.
-- For: _after_ends, after it has announced (a worker that goes to sleep sees the end, or we see that it waits).   Safe to repeat: yes.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._tell_room(of_incarnation_ids int[]) RETURNS void LANGUAGE sql AS $$
    SELECT pg_notify('work', CASE WHEN i.offers IS NULL THEN i.pool_id::text ELSE i.pool_id || ':' || i.incarnation_id END)
    FROM weft.worker_incarnation i WHERE i.incarnation_id = ANY (of_incarnation_ids) AND i.waiting
$$;
