-- deadlines_due: when the driver must look at a deadline, if no notice comes before.
-- Safe to repeat: yes, it only reads.   Locks: as _check_term.   Plan: as _deadlines_due.
-- Returns: how long until then, negative if it is overdue; NULL if there is none.   Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.deadlines_due(epoch bigint) RETURNS interval LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_term(deadlines_due.epoch);
    RETURN weft._deadlines_due();
END $$;
