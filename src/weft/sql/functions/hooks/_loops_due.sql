-- _loops_due: in how much time a loop of the driver has something to do that no notice tells. One SELECT for each (weft/driver/loops).
-- Plan: incarnations that live; callbacks by the index of dates; as _gates_due, _schedules_due,
--   _recovery_due, _conditions_due, _monitor_due, _black_holes_due, _spending_due, _sources_due.
-- Returns: no row, or a NULL, for a loop that waits for no date; a negative time if the date has passed.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._loops_due(grace_s double precision) RETURNS TABLE (loop text, due_in interval) LANGUAGE sql STABLE AS $$
    SELECT 'reaper', weft._reaper_due(_loops_due.grace_s)
    UNION ALL
    SELECT 'callback', min(d.next_at) - clock_timestamp() FROM weft.callback_delivery d
    WHERE d.next_at IS NOT NULL AND NOT d.behind
    UNION ALL
    SELECT 'gates', weft._gates_due()
    UNION ALL
    SELECT 'deadlines', weft._deadlines_due()
    UNION ALL
    SELECT 'schedules', weft._schedules_due()
    UNION ALL
    SELECT 'recovery', weft._recovery_due()
    UNION ALL
    SELECT 'conditions', weft._conditions_due('{}')
    UNION ALL
    SELECT 'monitor', weft._monitor_due()
    UNION ALL
    SELECT 'black_holes', weft._black_holes_due()
    UNION ALL
    SELECT 'spending', weft._spending_due()
    UNION ALL
    SELECT 'sources', weft._sources_due('{}', 2)
$$;
