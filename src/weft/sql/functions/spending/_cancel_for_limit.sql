-- _cancel_for_limit: one bounded step of the end of a billing project that cancels at its limit: cancel open batches; then release what an
--   earlier pause held, so that the sweeps end it.
-- Called by: apply_limits.   Safe to repeat: yes.   Returns: how many batches; 0: nothing is left.
-- Locks: as _cancel_group (a batch per call); as _resume_for_limit (instead); as _announce.
-- Plan: as _open_batches; cancels by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._cancel_for_limit(reached weft.spend_limit, limit_rows int) RETURNS int LANGUAGE plpgsql
AS $$
DECLARE
    v_batch bigint;
BEGIN
    SELECT b INTO v_batch FROM weft._open_batches(reached.tenant_id, reached.project_id) b
    WHERE NOT EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = b AND c.group_id = 0) ORDER BY b LIMIT 1;
    IF v_batch IS NULL THEN
        RETURN weft._resume_for_limit(reached.limit_id, limit_rows);
    END IF;
    PERFORM weft._cancel_group(v_batch, 0, 'limit', false, clock_timestamp());
    PERFORM weft._announce();
    RETURN 1;
END $$;
