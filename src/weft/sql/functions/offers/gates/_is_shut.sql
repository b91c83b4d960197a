-- _is_shut: whether a switch is closed for all jobs of a batch; not if it is that of a limit which admits
--   some of them.
-- For: _batch_terms, for each claim, so it is inlined there and has no SET clause.
-- Plan: as _is_closed.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._is_shut(of_batch_id bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT weft._is_closed(of_batch_id, 0, 0)
        AND NOT EXISTS (
            SELECT FROM weft.group_hold h WHERE h.batch_id = of_batch_id AND h.group_id = 0 AND h.admits
        )
$$;
