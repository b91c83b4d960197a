-- cordon_worker: let a worker take no new job; what it has goes on.
-- Called by: Store.cordon_worker (api).   Safe to repeat: yes; the first date and reason stay.
-- Locks: worker; incarnation. It waits for the claim under way, whose jobs are the worker's: the cordon is dated after it.
-- Returns: whether it was not cordoned.  Raises as _lock_worker.
-- Owner: weft_system.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.cordon_worker(of_name text, of_pool text, actor text, reason text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_worker record; v_at timestamptz;
BEGIN
    SELECT * INTO v_worker FROM weft._lock_worker(of_name, of_pool);
    PERFORM pg_advisory_xact_lock(7703, v_worker.incarnation_id) WHERE v_worker.incarnation_id IS NOT NULL;
    v_at := clock_timestamp();
    UPDATE weft.worker w SET cordoned_at = v_at, cordoned_by = cordon_worker.actor, cordon_reason = cordon_worker.reason
    WHERE w.worker_id = v_worker.worker_id AND w.cordoned_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE weft.worker_incarnation i SET cordoned = true WHERE i.incarnation_id = v_worker.incarnation_id;
    PERFORM weft._record_worker_change(v_worker.worker_id, 'cordoned', cordon_worker.actor, cordon_worker.reason, v_at);
    RETURN true;
END $$;
