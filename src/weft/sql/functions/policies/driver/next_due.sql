-- next_due: when the next worker would be lost.
-- Safe to repeat: yes, it only reads.   Locks: as _check_term.   Plan: incarnations that live.
-- Returns: how long until then, or NULL without workers.   Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.next_due(epoch bigint, grace_s double precision) RETURNS interval LANGUAGE plpgsql AS $$
BEGIN
    RETURN weft._reaper_due(next_due.grace_s);
END $$;
