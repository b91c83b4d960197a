-- conditions_due: when the driver must look at conditions, if no notice comes before.
-- Safe to repeat: yes, it only reads.   Locks: as _check_term.   Plan: as _conditions_due.
-- Returns: how long until then, negative if it is overdue; NULL if there is none.   Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.conditions_due(epoch bigint, busy bigint[], limit_rows int) RETURNS interval
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    PERFORM weft._check_term(conditions_due.epoch);
    RETURN weft._conditions_due(busy, limit_rows);
END $$;
