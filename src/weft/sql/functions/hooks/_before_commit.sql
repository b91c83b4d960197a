-- _before_commit: what must be locked before an update is committed whose jobs are there already: quotas, then queues that limit how many
--   wait.
-- Safe to repeat: yes.   For: commit_update, copy_batch; before any row of the batch.
-- Locks: as _lock_quotas; as _lock_limits.   Plan: quotas and queues by key; shapes of the update, if such queues exist.
-- Returns: whether _at_commit has quotas to check.   Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._before_commit(of_tenant_id int, of_batch_id bigint, of_update_id int) RETURNS boolean LANGUAGE plpgsql
AS $$
DECLARE
    v_checks boolean := coalesce(weft._lock_quotas(of_tenant_id, NULL, of_batch_id), false);
BEGIN
    IF EXISTS (SELECT FROM weft.queue q WHERE q.tenant_id = of_tenant_id AND q.max_waiting IS NOT NULL) THEN
        PERFORM weft._lock_limits(of_tenant_id, ARRAY(
            SELECT DISTINCT s.countables FROM weft.bunch_count c JOIN weft.shape s USING (shape_id)
            WHERE c.batch_id = of_batch_id AND c.update_id = of_update_id), true);
    END IF;
    RETURN v_checks;
END $$;
