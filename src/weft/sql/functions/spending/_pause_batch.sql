-- _pause_batch: hold a batch that gets ready jobs if its billing project is paused, so that none of them starts. A project that cancels at
--   its limit takes no jobs any more.
-- Called by: _make_visible, _retry, which announce it.   Safe to repeat: yes.
-- The hold is dated now: much of the transaction may lie behind, in which jobs of the batch were claimed.
-- Locks: spend_limit (shared: who reaches the limit waits for this transaction and then finds the batch open, or is seen here); as
--   _hold_batches.
-- Plan: batch and limit by key; a project without limits costs this look.   Raises WF135 if `refuses`.
-- Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._pause_batch(of_batch_id bigint, refuses boolean) RETURNS void LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_limit weft.spend_limit;
BEGIN
    SELECT l.* INTO v_limit FROM weft.batch b JOIN weft.spend_limit l USING (project_id) WHERE b.batch_id = of_batch_id FOR SHARE OF l;
    IF v_limit.stage IS DISTINCT FROM 'reached' THEN
        RETURN;
    END IF;
    IF v_limit.on_limit = 'pause' THEN
        PERFORM weft._hold_batches(ARRAY[of_batch_id], v_limit.limit_id, clock_timestamp());
    ELSIF refuses THEN
        PERFORM weft._fail('WF135', format('billing project "%s" has reached its limit', p.name),
            format('It may cost %s, and takes no jobs any more.', trim_scale(v_limit.cost_max)),
            'Name another project, or ask an administrator to raise the limit, with `weft billing project limit`.')
        FROM weft.billing_project p WHERE p.project_id = v_limit.project_id;
    END IF;
END $$;
