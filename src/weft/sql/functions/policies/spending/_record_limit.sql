-- _record_limit: record that a limit paused or resumed groups: in their history and as an event of each.
-- Safe to repeat: no.
-- Locks: none but new rows.
-- For: _hold_for_limit, _resume_for_limit, which announce it.
-- Plan: batches by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._record_limit(
    of_batch_ids bigint[], of_group_ids int[], of_limit weft.spend_limit, of_kind text, at timestamptz
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO weft.group_change (batch_id, group_id, tenant_id, at, actor, kind, message)
    SELECT b.batch_id, g.group_id, b.tenant_id, _record_limit.at, 'limit', of_kind, n.name
    FROM unnest(of_batch_ids, of_group_ids) g (batch_id, group_id)
    JOIN weft.batch b
    USING (batch_id)
    CROSS JOIN (SELECT 'limit of ' || replace(weft._limit_name(of_limit), '"', '') AS name) n;
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, groups)
    SELECT
        _record_limit.at,
        b.tenant_id,
        b.batch_id,
        CASE g.group_id WHEN 0 THEN 'batch.' ELSE 'group.' END || of_kind,
        ARRAY[g.group_id]
    FROM unnest(of_batch_ids, of_group_ids) g (batch_id, group_id)
    JOIN weft.batch b
    USING (batch_id);
$$;
