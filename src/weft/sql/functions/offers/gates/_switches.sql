-- _switches: one row for each switch in a batch that is closed or was a moment ago, and whether the driver is
--   still parking jobs behind it. A new kind of switch is added here and in _is_closed; nothing else in a
--   claim knows holds.
-- For: _batch_terms, for each claim, so it is inlined there and has no SET clause.
-- Plan: inlined; holds by key, those that are not swept by their index.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._switches(of_batch_id bigint) RETURNS TABLE (batch_id bigint, parking boolean)
LANGUAGE sql STABLE AS $$
    SELECT h.batch_id, NOT h.swept AND h.released_at IS NULL
    FROM weft.group_hold h
    WHERE h.batch_id = of_batch_id
    UNION ALL
    SELECT h.batch_id, false
    FROM weft.job_hold h
    WHERE h.batch_id = of_batch_id
$$;
