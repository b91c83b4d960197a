-- gates_due: when the driver must look at the gates again, if no notice comes before.
-- Safe to repeat: yes, it only reads.   Locks: as _check_term.   Plan: as _gates_due.
-- Returns: how long until then, negative if it is overdue; NULL if nothing will be due.   Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.gates_due(epoch bigint) RETURNS interval LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_term(gates_due.epoch);
    RETURN weft._gates_due();
END $$;
