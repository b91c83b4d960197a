-- _turn_ranges: hide the ranges of a batch from claimers, under the negative number of their pool, or show them again.
-- Called by: release_group, sweep_holds.   Safe to repeat: yes.   Returns: whether all are as they should be; else one is being moved by the fold.
-- Locks: rows of runnable, SKIP LOCKED.   Plan: ranges by batch.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._turn_ranges(of_batch_id bigint, hidden boolean) RETURNS boolean LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
    UPDATE weft.runnable r SET pool_id = -r.pool_id
    FROM (SELECT x.runnable_id FROM weft.runnable x WHERE x.batch_id = of_batch_id AND (x.pool_id < 0) <> _turn_ranges.hidden FOR UPDATE SKIP LOCKED) t
    WHERE r.runnable_id = t.runnable_id;
    RETURN NOT EXISTS (SELECT FROM weft.runnable x WHERE x.batch_id = of_batch_id AND (x.pool_id < 0) <> _turn_ranges.hidden);
END $$;
