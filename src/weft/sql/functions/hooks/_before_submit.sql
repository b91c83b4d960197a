-- _before_submit: what must be locked and known before jobs, or bytes, are added to a batch: quotas, then limits of queues.
-- For: submit, create_batch, add_jobs, add_payload_part, add_resubmitted, copy_batch; before any row of the batch.   Safe to repeat: yes.
-- Locks: as _lock_quotas; as _core_gates (the same rows); as _lock_limits.   Plan: quotas and queues by key.
-- of_user_id NULL: the owner of the batch.   asked: what the jobs ask for; NULL: there are none.   commits: what is added is committed in
--   this transaction; else only bytes count already.
-- Returns: checks: whether _at_store and _at_commit have something to check.   limits: what _limit_gate_sets needs; NULL: no limit.
-- Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._before_submit(of_tenant_id int, of_user_id int, of_batch_id bigint, asked jsonb[], commits boolean,
    OUT checks boolean, OUT limits jsonb) LANGUAGE plpgsql AS $$
DECLARE
    v_has_quotas boolean := weft._lock_quotas(of_tenant_id, of_user_id, of_batch_id, NOT commits); v_queues text[]; v_cores jsonb;
BEGIN
    checks := coalesce(v_has_quotas, false);
    IF asked IS NULL THEN
        RETURN;
    END IF;
    IF v_has_quotas IS NOT NULL THEN
        v_cores := weft._core_gates(of_tenant_id, of_user_id, of_batch_id);
    END IF;
    v_queues := weft._lock_limits(of_tenant_id, asked, commits);
    IF v_cores IS NOT NULL OR v_queues <> '{}' THEN
        limits := jsonb_build_object('cores', v_cores, 'queues', v_queues);
    END IF;
END $$;
