-- _pause_for_limit: one bounded step of a pause: hold the group of a limit, or the open batches of its project or user; then stop what
--   runs in them.
-- Called by: apply_limits.   Safe to repeat: yes.   Returns: how many groups or attempts; 0: nothing is left.
-- Locks: batch (exclusive, in order); as _stop_for_limit (instead); as _hold_for_limit; as _announce.
-- Plan: as _groups_of_limit; holds by key; as _stop_for_limit.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._pause_for_limit(reached weft.spend_limit, limit_rows int) RETURNS int LANGUAGE plpgsql
AS $$
DECLARE
    v_batches bigint[]; v_groups int[]; v_batch bigint;
BEGIN
    SELECT array_agg(x.batch_id ORDER BY x.batch_id), array_agg(x.group_id ORDER BY x.batch_id) INTO v_batches, v_groups FROM (
        SELECT g.* FROM weft._groups_of_limit(reached) g
        WHERE NOT EXISTS (SELECT FROM weft.group_hold h WHERE h.batch_id = g.batch_id AND h.group_id = g.group_id
            AND h.limit_id = reached.limit_id AND h.released_at IS NULL)
        ORDER BY g.batch_id LIMIT limit_rows) x;
    IF v_batches IS NULL THEN
        RETURN weft._stop_for_limit(reached.limit_id, limit_rows);
    END IF;
    FOREACH v_batch IN ARRAY v_batches LOOP
        PERFORM pg_advisory_xact_lock(v_batch);
    END LOOP;
    PERFORM weft._hold_for_limit(v_batches, v_groups, reached, clock_timestamp());
    PERFORM weft._announce();
    RETURN cardinality(v_batches);
END $$;
