-- _show_ranges: show the ranges of a batch to claimers and gates again, unless the batch is held.
-- Safe to repeat: yes.
-- Returns: whether all are done; if not, the fold is moving one.
-- Locks: batch (shared); as _turn_ranges; as _announce. A hold waits or is seen.
-- Plan: ranges by batch.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._show_ranges(of_batch_id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_is_whole boolean := true;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(of_batch_id);
    IF NOT weft._is_closed(of_batch_id, 0, 0) THEN
        v_is_whole := weft._turn_ranges(of_batch_id, false);
        PERFORM weft._announce(p.pools, array_fill(b.user_id, ARRAY[cardinality(p.pools)]))
        FROM weft.batch b
        CROSS JOIN LATERAL weft._batch_pools(b.batch_id) p (pools)
        WHERE b.batch_id = of_batch_id;
    END IF;
    RETURN v_is_whole;
END $$;
