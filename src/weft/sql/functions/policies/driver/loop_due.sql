-- loop_due: when a loop of the driver must look again, if no notice comes before.
-- busy, limit_rows: what a loop that tests or reads elsewhere is about, and how much of it there may be at a
--   time.
-- grace_s: of reaper.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: as the one SELECT of _loops_due.
-- Returns: how long until then, negative if it is overdue; NULL if nothing will be due.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.loop_due(
    epoch bigint,
    of_loop text,
    busy bigint[] DEFAULT '{}',
    limit_rows int DEFAULT 2,
    grace_s double precision DEFAULT NULL
) RETURNS interval LANGUAGE plpgsql PLAN_BY_KEY AS $$
BEGIN
    RETURN (
        SELECT d.due_in
        FROM weft._loops_due(loop_due.grace_s, loop_due.busy, loop_due.limit_rows) d
        WHERE d.loop = of_loop
    );
END $$;
