-- _delete_worker: note that a worker has ended in order. That ends its drain, so that it takes jobs when it
--   is started again; a mere cordon stays.
-- Safe to repeat: yes.
-- Locks: worker (by the caller).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._delete_worker(of_worker_id int, at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.worker w SET deleted_at = _delete_worker.at WHERE w.worker_id = of_worker_id;
    UPDATE weft.worker w
    SET cordoned_at = NULL, cordoned_by = NULL, cordon_reason = NULL, draining = false
    WHERE w.worker_id = of_worker_id AND w.draining;
    IF FOUND THEN
        PERFORM weft._record_worker_change(of_worker_id, 'deleted', 'worker', NULL, _delete_worker.at);
    END IF;
END $$;
