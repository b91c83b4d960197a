-- wait_for_work: put a worker to sleep unless there is work.
-- Safe to repeat: yes.
-- Locks: incarnation (its row); announcements (exclusive, shortly). A transaction that makes work visible
--   holds them shared until its commit, so either we see the work or it sees that we wait. The row comes
--   first: whoever changes it announces afterwards. A worker that woke and claimed nothing still waits: all
--   who announced since saw that, so it needs no lock.
-- Returns: true: there is work, claim again; false: a notice on channel work will follow.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.wait_for_work(incarnation_id int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.worker_incarnation i
    SET waiting = true
    WHERE i.incarnation_id = wait_for_work.incarnation_id AND NOT i.waiting;
    IF FOUND THEN
        PERFORM pg_advisory_xact_lock(7701, 0);
    END IF;
    RETURN weft._has_work(wait_for_work.incarnation_id);
END $$;
