-- _switches: one row for each switch in a batch that is closed or was a moment ago. A new kind of switch is added here and in _is_closed.
-- Called by: _has_switch; _batch_terms, for each claim, so it is inlined there and has no SET clause.
-- Safe to repeat: yes, it only reads.   Plan: inlined; holds by key.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._switches(of_batch_id bigint) RETURNS TABLE (batch_id bigint) LANGUAGE sql STABLE
AS $$
    SELECT h.batch_id FROM weft.group_hold h WHERE h.batch_id = of_batch_id
    UNION ALL SELECT h.batch_id FROM weft.job_hold h WHERE h.batch_id = of_batch_id
$$;
