-- sources_due: when the next source is read, besides these, if no notice comes before.
-- Safe to repeat: yes, it only reads.   Locks: as _check_term.   Plan: as _sources_due.
-- Returns: how long until then, negative if it is overdue; NULL if there is none.   Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.sources_due(epoch bigint, busy int[], limit_rows int) RETURNS interval LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_term(sources_due.epoch);
    RETURN weft._sources_due(busy, limit_rows);
END $$;
