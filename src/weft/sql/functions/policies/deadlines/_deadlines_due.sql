-- _deadlines_due: in how much time the driver must look at a deadline; negative: it is overdue; NULL: there is none.
-- Plan: the first by date.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._deadlines_due() RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT min(d.due_at) - clock_timestamp() FROM weft.job_deadline d WHERE d.due_at IS NOT NULL
$$;
