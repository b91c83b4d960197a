-- _record_limit: record that a limit paused or resumed batches: in their history and as an event of each.
-- Called by: _hold_batches, _resume_for_limit, which announce it.   Safe to repeat: no.   Locks: none but new rows.
-- Plan: batches by key.
-- Owner: weft_tenant.  Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._record_limit(of_batch_ids bigint[], of_kind text, at timestamptz) RETURNS void LANGUAGE sql
AS $$
    INSERT INTO weft.group_change (batch_id, group_id, tenant_id, at, actor, kind, message)
    SELECT b.batch_id, 0, b.tenant_id, _record_limit.at, 'limit', of_kind, format('limit of billing project %s', p.name)
    FROM weft.batch b JOIN weft.billing_project p USING (project_id) WHERE b.batch_id = ANY (of_batch_ids);
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, groups)
    SELECT _record_limit.at, b.tenant_id, b.batch_id, 'batch.' || of_kind, '{0}' FROM weft.batch b WHERE b.batch_id = ANY (of_batch_ids);
$$;
