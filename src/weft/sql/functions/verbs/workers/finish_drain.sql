-- finish_drain: end a worker that drains, if nothing runs there any more: its process may end.
-- Safe to repeat: yes.
-- Locks: worker; as _lose_incarnation.
-- Plan: as _live_attempts.
-- Returns: whether it has ended; false: it was uncordoned meanwhile, or has jobs of which it did not hear.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.finish_drain(incarnation_id int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_worker record;
    v_at timestamptz := clock_timestamp();
BEGIN
    SELECT w.worker_id, w.draining, w.deleted_at, i.ended_at
    INTO v_worker
    FROM weft.worker w
    JOIN weft.worker_incarnation i
    USING (worker_id)
    WHERE i.incarnation_id = finish_drain.incarnation_id
    FOR UPDATE OF w;
    IF v_worker.ended_at IS NOT NULL THEN
        RETURN v_worker.deleted_at IS NOT NULL;  -- the reply was lost
    ELSIF NOT v_worker.draining OR EXISTS (SELECT FROM weft._live_attempts(finish_drain.incarnation_id)) THEN
        RETURN false;
    END IF;
    PERFORM weft._lose_incarnation(finish_drain.incarnation_id, v_at);
    PERFORM weft._delete_worker(v_worker.worker_id, v_at);
    RETURN true;
END $$;
