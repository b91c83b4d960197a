-- recovery_due: when the driver must look at blocked jobs, if no notice comes before.
-- Safe to repeat: yes, it only reads.   Locks: as _check_term.   Plan: as _recovery_due.
-- Returns: how long until then, negative if it is overdue; NULL if no job is blocked.   Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.recovery_due(epoch bigint) RETURNS interval LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_term(recovery_due.epoch);
    RETURN weft._recovery_due();
END $$;
