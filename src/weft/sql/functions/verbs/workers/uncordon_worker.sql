-- uncordon_worker: let a worker take jobs again, also one that drains.
-- Safe to repeat: yes.
-- Locks: worker; incarnation (its row); black_hole; as _announce. A worker that goes to sleep meanwhile sees
--   that it may take jobs, or is woken.
-- Returns: whether it was cordoned.  Raises as _lock_worker.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.uncordon_worker(of_name text, of_pool text, actor text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_worker record;
BEGIN
    SELECT * INTO v_worker FROM weft._lock_worker(of_name, of_pool);
    UPDATE weft.worker w
    SET cordoned_at = NULL, cordoned_by = NULL, cordon_reason = NULL, draining = false
    WHERE w.worker_id = v_worker.worker_id AND w.cordoned_at IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE weft.worker_incarnation i
    SET cordoned = false, trying = false
    WHERE i.incarnation_id = v_worker.incarnation_id;
    DELETE FROM weft.black_hole b WHERE b.worker_id = v_worker.worker_id;
    PERFORM weft._record_worker_change(
        v_worker.worker_id, 'active', uncordon_worker.actor, NULL, clock_timestamp()
    );
    PERFORM weft._announce();
    PERFORM pg_notify('work', i.pool_id || ':' || i.incarnation_id)
    FROM weft.worker_incarnation i
    WHERE i.incarnation_id = v_worker.incarnation_id AND i.waiting;
    RETURN true;
END $$;
