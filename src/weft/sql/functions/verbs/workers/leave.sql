-- leave: unregister a worker, whose process ends in order; attempts that it still has are lost at once.
-- Safe to repeat: yes.
-- Locks: worker; incarnation; as _lose_incarnation.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.leave(incarnation_id int, at timestamptz DEFAULT clock_timestamp())
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM
    FROM weft.worker w
    JOIN weft.worker_incarnation i
    USING (worker_id)
    WHERE i.incarnation_id = leave.incarnation_id
    FOR UPDATE OF w;
    PERFORM weft._delete_worker(i.worker_id, leave.at)
    FROM weft.worker_incarnation i
    WHERE i.incarnation_id = leave.incarnation_id AND i.ended_at IS NULL;
    PERFORM pg_advisory_xact_lock(7703, leave.incarnation_id);  -- before the row, as in _lose_incarnation
    UPDATE weft.worker_incarnation i
    SET heartbeat_at = leave.at
    WHERE i.incarnation_id = leave.incarnation_id AND i.ended_at IS NULL;
    PERFORM weft._lose_incarnation(leave.incarnation_id, leave.at);
END $$;
