-- _loops_due: in how much time a loop of the driver has something to do that no notice tells. One SELECT for
--   each (weft/driver/loops).
-- Plan: incarnations that live; callbacks, and attempts that are watched or stopped, by the index of dates;
--   limits, which are few; blocked jobs, deadlines and schedules, the first by date; conditions that go on or
--   fail, by index; as _gates_due, _next_tests, _black_holes, _sources_due.
--   No LIMIT in a SELECT of its own: who asks for one loop (loop_due) runs its SELECT alone.
-- Returns: no row, or a NULL, for a loop that waits for no date; a negative time if the date has passed.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._loops_due(grace_s double precision, busy bigint[], limit_rows int)
RETURNS TABLE (loop text, due_in interval) LANGUAGE sql STABLE AS $$
    SELECT 'reaper', min(i.heartbeat_at) + _loops_due.grace_s * interval '1 second' - clock_timestamp()
    FROM weft.worker_incarnation i
    WHERE i.ended_at IS NULL AND NOT i.outlives
    UNION ALL
    SELECT 'callback', min(d.next_at) - clock_timestamp()
    FROM weft.callback_delivery d
    WHERE d.next_at IS NOT NULL AND NOT d.behind
    UNION ALL
    SELECT 'gates', weft._gates_due()
    UNION ALL
    SELECT 'deadlines', min(e.due_at) - clock_timestamp()
    FROM weft.job_deadline e
    WHERE e.due_at IS NOT NULL
    UNION ALL
    -- Not those whose runs wait for an api: when they have ended, a notice tells the driver.
    SELECT
        'schedules',
        (
            SELECT s.next_at - clock_timestamp()
            FROM weft.schedule s
            WHERE s.next_at IS NOT NULL
                AND NOT EXISTS (
                    SELECT FROM weft.schedule_run r WHERE r.schedule_id = s.schedule_id AND r.ended_at IS NULL
                )
            ORDER BY s.next_at
            LIMIT 1
        )
    UNION ALL
    -- Jobs that wait for a date alone.
    SELECT
        'recovery', min(k.next_at) - clock_timestamp()
    FROM weft.blocked_job k
    WHERE k.condition_id IS NULL
    UNION ALL
    -- At once if jobs go on or are given up; else not before a test ends.
    SELECT
        'conditions',
        CASE
            WHEN EXISTS (SELECT FROM weft.condition g WHERE g.n_going > 0)
                OR EXISTS (SELECT FROM weft.condition f WHERE f.failed_by IS NOT NULL)
                THEN interval '-1 s'
            ELSE (SELECT min(n.next_test_at) FROM weft._next_tests(busy, limit_rows, 1, 'infinity') n)
                - clock_timestamp()
        END
    UNION ALL
    SELECT
        'monitor',
        least(
            (SELECT min(w.due_at) FROM weft.attempt_watch w), (SELECT min(s.due_at) FROM weft.attempt_stop s)
        ) - clock_timestamp()
    UNION ALL
    SELECT 'black_holes', min(b.due_at) - clock_timestamp()
    FROM weft._black_holes() b
    UNION ALL
    -- At once if a limit was changed, or if batches do not agree with one.
    SELECT
        'spending', interval '0'
    WHERE EXISTS (
        SELECT
        FROM weft.spend_limit l
        WHERE l.applied_at IS NULL OR l.judged_version IS DISTINCT FROM l.version
    )
    UNION ALL
    SELECT
        'terms',
        least(
            (SELECT min(l.until) FROM weft.spend_limit l),
            (SELECT min(u.weight_until) FROM weft.tenant_user u)
        ) - clock_timestamp()
    UNION ALL
    SELECT 'sources', weft._sources_due(busy, limit_rows)
$$;
