-- _schedules_due: in how much time the next schedule is due; negative: it is overdue; NULL: none will be.
-- Plan: the first by date, without those whose runs wait for an api: when they have ended, a notice tells the driver.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._schedules_due() RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT s.next_at - clock_timestamp() FROM weft.schedule s
    WHERE s.next_at IS NOT NULL
        AND NOT EXISTS (SELECT FROM weft.schedule_run r WHERE r.schedule_id = s.schedule_id AND r.ended_at IS NULL)
    ORDER BY s.next_at LIMIT 1
$$;
