-- _resume_for_limit: one bounded step: release groups that a limit held. The sweep of holds offers their jobs again.
-- Called by: apply_limits, _cancel_for_limit.   Safe to repeat: yes.   Returns: how many groups; 0: nothing is left.
-- Locks: batch (exclusive, in order); hold_row; as _announce.   Plan: held groups by the index of their limit.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._resume_for_limit(of_limit weft.spend_limit, limit_rows int) RETURNS int LANGUAGE plpgsql
AS $$
DECLARE
    v_batches bigint[]; v_groups int[]; v_batch bigint; v_at timestamptz := clock_timestamp();
BEGIN
    SELECT array_agg(x.batch_id ORDER BY x.batch_id), array_agg(x.group_id ORDER BY x.batch_id) INTO v_batches, v_groups FROM (
        SELECT h.batch_id, h.group_id FROM weft.group_hold h
        WHERE h.limit_id = of_limit.limit_id AND h.limit_id <> 0 AND h.released_at IS NULL
        ORDER BY h.batch_id LIMIT limit_rows) x;
    IF v_batches IS NULL THEN
        RETURN 0;
    END IF;
    FOREACH v_batch IN ARRAY v_batches LOOP
        PERFORM pg_advisory_xact_lock(v_batch);
    END LOOP;
    UPDATE weft.group_hold h SET released_at = v_at, swept = false, sweep_job = 0
    WHERE h.batch_id = ANY (v_batches) AND h.limit_id = of_limit.limit_id AND h.released_at IS NULL;
    PERFORM weft._record_limit(v_batches, v_groups, of_limit, 'resumed', v_at);
    PERFORM pg_notify('driver', 'hold');
    PERFORM weft._announce();
    RETURN cardinality(v_batches);
END $$;
