-- beat_driver: the heartbeat of a leader: is there something to do after all, and when is each loop due.
-- Safe to repeat: yes.
-- Locks: term (SKIP LOCKED); as idle_driver. It notes when it was heard, unless that row is being changed.
-- Plan: as idle_driver and _loops_due.
-- Returns: whether it may sleep on; loops with a date, once each, and in how much time the first one comes
--   (negative: it has passed).
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.beat_driver(epoch bigint, grace_s double precision)
RETURNS TABLE (idle boolean, loops text[], due_in interval[])
LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
    UPDATE weft.driver_state s
    SET heard_at = clock_timestamp()
    FROM (SELECT l.ctid AS tid FROM weft.driver_state l FOR NO KEY UPDATE SKIP LOCKED) x
    WHERE s.ctid = x.tid;
    SELECT
        weft.idle_driver(beat_driver.epoch),
        coalesce(array_agg(d.loop), '{}'),
        coalesce(array_agg(d.due_in), '{}')
    FROM (
        SELECT x.loop, min(x.due_in) AS due_in
        FROM weft._loops_due(beat_driver.grace_s, '{}', 2) x
        WHERE x.due_in IS NOT NULL
        GROUP BY x.loop
    ) d
$$;
