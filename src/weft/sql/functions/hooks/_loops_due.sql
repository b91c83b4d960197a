-- _loops_due: in how much time a loop of the driver has something to do that no notice tells. One SELECT for each (weft/driver/loops).
-- Plan: incarnations that live; callbacks, and attempts that are watched or stopped, by the index of dates; limits, which are few;
--   as _gates_due, _schedules_due, _recovery_due, _conditions_due, _black_holes, _sources_due.
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
    SELECT 'conditions', weft._conditions_due('{}', 2)
    UNION ALL
    SELECT 'monitor', least((SELECT min(w.due_at) FROM weft.attempt_watch w), (SELECT min(s.due_at) FROM weft.attempt_stop s))
        - clock_timestamp()
    UNION ALL
    SELECT 'black_holes', min(b.due_at) - clock_timestamp() FROM weft._black_holes() b
    UNION ALL
    -- At once if a limit was changed, or if batches do not agree with one.
    (SELECT 'spending', interval '0' FROM weft.spend_limit l
        WHERE l.applied_at IS NULL OR l.judged_version IS DISTINCT FROM l.version LIMIT 1)
    UNION ALL
    SELECT 'sources', weft._sources_due('{}', 2)
$$;
