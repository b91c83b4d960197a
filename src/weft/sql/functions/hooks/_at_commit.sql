-- _at_commit: refuse to commit an update whose jobs would be too many for a queue or a quota, or which makes one batch too many.
-- For: submit, commit_update, create_batch; _before_submit or _before_commit has locked what is counted here.
-- Safe to repeat: yes, it only reads.   Plan: as _check_waiting; as _check_quotas.   Raises WF113 (queue is full), WF134 (quota).
-- checks: whether there are quotas.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._at_commit(of_tenant_id int, of_update weft.batch_update, checks boolean) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM weft.queue q WHERE q.tenant_id = of_tenant_id AND q.max_waiting IS NOT NULL) THEN
        PERFORM weft._check_waiting(of_tenant_id, of_update.batch_id, of_update.update_id);
    END IF;
    IF checks THEN
        PERFORM weft._check_quotas(of_tenant_id, of_update);
    END IF;
END $$;
