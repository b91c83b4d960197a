-- begin_term: become the leader of the drivers, on the connection that calls; the lock lasts as long as the
--   connection.
-- Safe to repeat: yes.
-- Locks: leader (tried); term. A backend that waits inside an advisory lock holds back the removal of dead
--   rows for everybody.
-- Returns: the epoch of the new term; NULL if another driver leads.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.begin_term() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint;
BEGIN
    IF NOT pg_try_advisory_lock(7702, 0) THEN
        RETURN NULL;
    END IF;
    PERFORM FROM weft.driver_state FOR UPDATE;  -- until what the old term began has ended (_check_epoch)
    UPDATE weft.driver_state
    SET epoch = epoch + 1, waiting = false, heard_at = clock_timestamp()
    RETURNING epoch
    INTO v_epoch;
    RETURN v_epoch;
END $$;
