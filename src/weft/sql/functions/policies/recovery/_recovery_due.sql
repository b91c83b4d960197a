-- _recovery_due: in how much time a blocked job is ready again that waits for its date alone; negative: it is overdue; NULL: there is none.
-- Plan: the first by date.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._recovery_due() RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT min(k.next_at) - clock_timestamp() FROM weft.blocked_job k WHERE k.condition_id IS NULL
$$;
