-- wait_to_be_given: as wait_for_work; meanwhile a submission may claim for this worker, which asks list_given
--   then (ADR 183).
-- Safe to repeat: yes.
-- Locks: incarnation (its row); as wait_for_work.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.wait_to_be_given(incarnation_id int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.worker_incarnation i
    SET takes = true
    WHERE i.incarnation_id = wait_to_be_given.incarnation_id AND NOT i.takes;
    RETURN weft.wait_for_work(wait_to_be_given.incarnation_id);
END $$;
