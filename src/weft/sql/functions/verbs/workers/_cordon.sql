-- _cordon: let a worker take no new job; what it has goes on. `drains`: besides, its process ends when
--   nothing runs. A lost worker has nothing that runs: its drain is over at once.
-- Safe to repeat: yes; the first date and reason stay.
-- Locks: worker; incarnation; black_hole. It waits for the claim under way, whose jobs are the worker's: the
--   cordon is dated after it.
-- Returns: whether anything changed.  Raises as _lock_worker.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._cordon(of_name text, of_pool text, actor text, reason text, drains boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_worker record;
    v_at timestamptz;
    v_taken boolean;
BEGIN
    SELECT * INTO v_worker FROM weft._lock_worker(of_name, of_pool);
    PERFORM pg_advisory_xact_lock(7703, v_worker.incarnation_id) WHERE v_worker.incarnation_id IS NOT NULL;
    v_at := clock_timestamp();
    DELETE FROM weft.black_hole b WHERE b.worker_id = v_worker.worker_id;
    -- A person's cordon is no longer the driver's, which would take it back.
    v_taken := FOUND
        OR _cordon.actor <> 'autoscaler'
            AND (
                SELECT w.cordoned_by = 'autoscaler' AND NOT w.draining
                FROM weft.worker w
                WHERE w.worker_id = v_worker.worker_id
            );
    UPDATE weft.worker w
    SET
        cordoned_at = coalesce(w.cordoned_at, v_at),
        draining = _cordon.drains,
        cordoned_by = CASE WHEN w.cordoned_at IS NULL OR v_taken THEN _cordon.actor ELSE w.cordoned_by END,
        cordon_reason = CASE
            WHEN w.cordoned_at IS NULL OR v_taken THEN _cordon.reason
            ELSE w.cordon_reason
        END
    WHERE w.worker_id = v_worker.worker_id
        AND (w.cordoned_at IS NULL OR v_taken OR _cordon.drains AND NOT w.draining);
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE weft.worker_incarnation i
    SET cordoned = true, trying = false
    WHERE i.incarnation_id = v_worker.incarnation_id;
    PERFORM weft._record_worker_change(
        v_worker.worker_id,
        CASE WHEN drains THEN 'draining' ELSE 'cordoned' END,
        _cordon.actor,
        _cordon.reason,
        v_at
    );
    IF drains AND v_worker.incarnation_id IS NULL THEN
        PERFORM weft._delete_worker(v_worker.worker_id, v_at);
    ELSIF drains THEN
        PERFORM pg_notify('worker', v_worker.incarnation_id::text);
    END IF;
    RETURN true;
END $$;
