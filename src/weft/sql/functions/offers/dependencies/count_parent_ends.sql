-- count_parent_ends: count the noted ends of parents for up to limit_jobs children with many parents.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; as _end_parents; as _announce.
-- Plan: by key.
-- Returns: how many children it examined.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.count_parent_ends(
    epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_batch bigint[];
    v_child int[];
BEGIN
    PERFORM weft._check_term(count_parent_ends.epoch);
    IF NOT EXISTS (SELECT FROM weft.parent_end) THEN
        RETURN 0;
    END IF;
    PERFORM weft._check_epoch(count_parent_ends.epoch);
    SELECT array_agg(x.batch_id), array_agg(x.child_id)
    INTO v_batch, v_child
    FROM (SELECT DISTINCT p.batch_id, p.child_id FROM weft.parent_end p ORDER BY 1, 2 LIMIT limit_jobs) x;
    IF v_child IS NULL THEN
        RETURN 0;
    END IF;
    PERFORM weft._leave_children(e.ended_batches, e.ended_jobs)
    FROM weft._end_parents(
        v_batch, v_child, array_fill(true, ARRAY[cardinality(v_child)]), false, true, count_parent_ends.at
    ) e;
    PERFORM weft._announce();
    RETURN cardinality(v_child);
END $$;
