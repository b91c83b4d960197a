-- _lift_limits: lift the cancels by their limits of failures of a group (0: the batch) and of those below it,
--   as far as these had come when a retry was requested. Their counts of failures start anew.
-- Safe to repeat: yes.
-- Locks: batch (exclusive); cancel_row; failure_count; as _record_change.
-- Plan: cancels and ancestors of the batch by key; the live attempts only while jobs of the groups run.
-- A cancel is lifted when all that it stops has ended: until then a job may still become cancelled because of
--   it.
-- Returns: the groups; NULL: some of their jobs have not ended yet.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lift_limits(
    of_batch_id bigint, within_group int, requested_at timestamptz, actor text, at timestamptz
) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_groups int[];
    v_now timestamptz;
BEGIN
    v_groups := weft._limited_groups(of_batch_id, within_group, requested_at);
    IF v_groups = '{}' THEN
        RETURN '{}';
    END IF;
    -- First without the lock: while jobs end, this is asked again and again, and claims and commits go on.
    IF weft._is_stopping(of_batch_id, v_groups) THEN
        RETURN NULL;
    END IF;
    PERFORM pg_advisory_xact_lock(of_batch_id);
    -- Once more, now that no person can cancel them.
    v_groups := weft._limited_groups(of_batch_id, within_group, requested_at);
    IF weft._is_stopping(of_batch_id, v_groups) THEN
        RETURN NULL;
    END IF;
    DELETE FROM weft.group_cancel c WHERE c.batch_id = of_batch_id AND c.group_id = ANY (v_groups);
    PERFORM
    FROM weft.failure_count f
    WHERE f.batch_id = of_batch_id AND f.group_id = ANY (v_groups)
    ORDER BY f.group_id
    FOR UPDATE;
    -- A failure that is counted later is dated earlier only if its report has waited for these rows
    -- (_add_failures).
    v_now := clock_timestamp();
    UPDATE weft.failure_count f
    SET n_failures = 0, lifted_at = v_now
    WHERE f.batch_id = of_batch_id AND f.group_id = ANY (v_groups);
    PERFORM weft._record_change(
        of_batch_id, g, 'reopened', _lift_limits.actor, 'its failures are counted anew', _lift_limits.at
    )
    FROM unnest(v_groups) g;
    RETURN v_groups;
END $$;
