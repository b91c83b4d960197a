-- idle_driver: the leader goes to sleep, unless there is something to do.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; term (SKIP LOCKED); announcements (exclusive, tried). If a fold or a writer holds
--   one there is something to do.
-- Returns: true: a notice on channel driver will come; false: go on.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.idle_driver(epoch bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM weft.driver_state FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND OR NOT pg_try_advisory_xact_lock(7701, 0) THEN
        RETURN false;
    END IF;
    IF EXISTS (SELECT FROM weft._unfolded() d) OR weft._loops_with_work() <> '{}' THEN
        RETURN false;
    END IF;
    UPDATE weft.driver_state SET waiting = true;
    RETURN true;
END $$;
