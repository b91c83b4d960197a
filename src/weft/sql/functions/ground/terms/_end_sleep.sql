-- _end_sleep: the leader's sleep ends with this transaction.
-- Safe to repeat: yes.
-- Locks: term (SKIP LOCKED). A commit with a notice waits for all others with one, so the first tells for all
--   who end meanwhile: they hold announcements (shared), hence the leader goes to sleep again only when it
--   has seen their work. Should the first be rolled back, or not come to its end, the leader's next beat
--   finds that it may not sleep on.
-- Returns: whether this transaction ended it, and so has to tell it.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._end_sleep() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.driver_state d
    SET waiting = false
    FROM (SELECT s.ctid AS tid FROM weft.driver_state s WHERE s.waiting FOR NO KEY UPDATE SKIP LOCKED) x
    WHERE d.ctid = x.tid;
    RETURN FOUND;
END $$;
