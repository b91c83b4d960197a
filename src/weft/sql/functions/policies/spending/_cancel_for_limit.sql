-- _cancel_for_limit: one bounded step at a limit that cancels: cancel its group, or the open batches of its
--   project or user; then release what an earlier pause held, so that the sweeps end it. Jobs with
--   `always_run` are no exception: by them anybody could spend without end.
-- Safe to repeat: yes.
-- Returns: how many groups; 0: nothing is left.
-- Locks: as _cancel_group (a group per call); as _resume_for_limit (instead); as _announce.
-- Plan: as _groups_of_limit; cancels by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._cancel_for_limit(reached weft.spend_limit, limit_rows int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_next record;
BEGIN
    SELECT g.*
    INTO v_next
    FROM weft._groups_of_limit(reached) g
    WHERE NOT EXISTS (
        SELECT FROM weft.group_cancel c WHERE c.batch_id = g.batch_id AND c.group_id = g.group_id AND c.force
    )
    ORDER BY g.batch_id
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN weft._resume_for_limit(reached, limit_rows);
    END IF;
    PERFORM weft._cancel_group(v_next.batch_id, v_next.group_id, 'limit', true, clock_timestamp());
    PERFORM weft._announce();
    RETURN 1;
END $$;
