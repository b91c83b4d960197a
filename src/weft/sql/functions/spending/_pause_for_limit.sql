-- _pause_for_limit: one bounded step of the pause of a billing project: hold open batches; then stop what runs in those that are held.
-- Called by: apply_limits.   Safe to repeat: yes.   Returns: how many batches or attempts; 0: nothing is left.
-- Locks: batch (exclusive, in order); as _stop_for_limit (instead); as _hold_batches; as _announce.
-- Plan: as _open_batches; holds by key; as _stop_for_limit.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._pause_for_limit(reached weft.spend_limit, limit_rows int) RETURNS int LANGUAGE plpgsql
AS $$
DECLARE
    v_batches bigint[]; v_batch bigint;
BEGIN
    v_batches := ARRAY(
        SELECT b FROM weft._open_batches(reached.tenant_id, reached.project_id) b
        WHERE NOT EXISTS (SELECT FROM weft.group_hold h WHERE h.batch_id = b AND h.group_id = 0 AND h.limit_id = reached.limit_id
            AND h.released_at IS NULL)
        ORDER BY b LIMIT limit_rows);
    IF v_batches = '{}' THEN
        RETURN weft._stop_for_limit(reached.limit_id, limit_rows);
    END IF;
    FOREACH v_batch IN ARRAY v_batches LOOP
        PERFORM pg_advisory_xact_lock(v_batch);
    END LOOP;
    PERFORM weft._hold_batches(v_batches, reached.limit_id, clock_timestamp());
    PERFORM weft._announce();
    RETURN cardinality(v_batches);
END $$;
