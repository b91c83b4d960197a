-- schedules_due: when the next schedule is due, if no notice comes before.
-- Safe to repeat: yes, it only reads.   Locks: as _check_term.   Plan: as _schedules_due.
-- Returns: how long until then, negative if it is overdue; NULL if there is none.   Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.schedules_due(epoch bigint) RETURNS interval LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_term(schedules_due.epoch);
    RETURN weft._schedules_due();
END $$;
