-- _work_left: which loops of the driver, besides the fold, have something to do.
-- Called by: fold_deltas, idle_driver.   Safe to repeat: yes, it only reads.   Plan: partial indexes and tables that are empty as a rule.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._work_left() RETURNS TABLE (sweep boolean, settle boolean, hold boolean, operate boolean) LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (SELECT FROM weft.group_cancel WHERE NOT swept),
           EXISTS (SELECT FROM weft.cascade) OR EXISTS (SELECT FROM weft.parent_end),
           EXISTS (SELECT FROM weft.group_hold WHERE NOT swept) OR EXISTS (SELECT FROM weft.held_ready),
           EXISTS (SELECT FROM weft.operation WHERE state = 'running')
$$;
