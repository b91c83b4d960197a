-- _check_term: as _check_epoch, for what only reads: without the lock there is nothing to commit, and no disk
--   to wait for.
-- Safe to repeat: yes, it only reads.
-- For: functions of the driver that only read, first; put in there. Others while they find nothing.
-- Locks: as _check_epoch.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._check_term(of_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint;
BEGIN
    SELECT d.epoch INTO v_epoch FROM weft.driver_state d;
    IF v_epoch <> of_epoch THEN
        PERFORM weft._check_epoch(of_epoch);
    END IF;
END $$;
